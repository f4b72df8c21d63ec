package plan

import (
	"path/filepath"
	"slices"
	"strings"
)

// Software is a kind of server that is known by its command and its dialect.
type Software string

// The kinds that are known; a server of another is measured all the same.
const (
	VLLM     Software = "vllm"
	TEI      Software = "text-embeddings-inference"
	LlamaCPP Software = "llama.cpp"
	Infinity Software = "infinity"
	SGLang   Software = "sglang"
)

// Software is what a command starts, by its program wherever it stands among the words:
// behind taskset, numactl or a container's run. It is empty where no program is known.
func (s Server) Software() Software {
	for i, word := range s.Command {
		switch programName(word) {
		case "vllm":
			if i+1 < len(s.Command) && s.Command[i+1] == "serve" {
				return VLLM
			}
		case "vllm.entrypoints.openai.api_server":
			return VLLM
		case "text-embeddings-router":
			return TEI
		case "llama-server":
			return LlamaCPP
		case "infinity-emb":
			return Infinity
		case "sglang.launch_server":
			return SGLang
		}
	}
	return ""
}

// programName is a word as a program's name: without folders and a script's ending,
// and with - for _.
func programName(word string) string {
	name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(word), ".py"), ".exe")
	if strings.Contains(name, ".") { // a Python module's
		return name
	}
	return strings.ReplaceAll(name, "_", "-")
}

// Flag is the value that a server is given for a flag, the first of names that is
// there: by an argument or, as text-embeddings-router and perhaps a program that is not
// known read it, by a variable of the same name.
func (s Server) Flag(names ...string) (value string, ok bool) {
	for _, name := range names {
		if v, ok := argument(s.Command, name); ok {
			return v, true
		}
	}
	if program := s.Software(); program != TEI && program != "" {
		return "", false
	}
	for _, name := range names {
		if bare, long := strings.CutPrefix(name, "--"); long {
			if v, ok := s.Variable(strings.ToUpper(strings.ReplaceAll(bare, "-", "_"))); ok {
				return v, true
			}
		}
	}
	return "", false
}

// Variable is the value of a variable of the server's environment, as far as the spec
// sets it. A sensitive one is there, and its value is empty.
func (s Server) Variable(name string) (value string, ok bool) {
	i := slices.IndexFunc(s.Env, func(h Header) bool { return h.Name == name })
	if i < 0 {
		return "", false
	}
	return s.Env[i].Value, true
}

// argument finds a flag among arguments, with its value behind it or behind =. Some
// servers take _ for -.
func argument(args []string, flag string) (string, bool) {
	for i, a := range args {
		name, value, joined := strings.Cut(a, "=")
		if strings.HasPrefix(name, "--") {
			name = strings.ReplaceAll(name, "_", "-")
		}
		if name != flag {
			continue
		}
		if !joined && i+1 < len(args) {
			value = args[i+1]
		}
		return value, true
	}
	return "", false
}
