package plan

import "strings"

// Argument finds a flag among arguments, with its value behind it or behind =. Some
// servers take _ for -.
func Argument(args []string, flag string) (string, bool) {
	for i, a := range args {
		name, value, joined := strings.Cut(a, "=")
		if !strings.HasPrefix(name, "--") || strings.ReplaceAll(name, "_", "-") != flag {
			continue
		}
		if !joined && i+1 < len(args) {
			value = args[i+1]
		}
		return value, true
	}
	return "", false
}
