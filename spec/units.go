package spec

import (
	"math/big"
	"strings"
)

// sizeUnits lists the units of a size, the longer before the shorter that end
// alike.
func sizeUnits() []string {
	return []string{"TiB", "GiB", "MiB", "KiB", "TB", "GB", "MB", "KB", "B"}
}

// parseSize reads "16GiB", "1.5GiB" or "512KiB" as bytes: the units with an i are
// powers of 1,024, those without of 1,000. A size that is no whole number of bytes
// is none.
func parseSize(s string) (int64, bool) {
	factors := map[string]int64{"TiB": 1 << 40, "GiB": 1 << 30, "MiB": 1 << 20, "KiB": 1 << 10,
		"TB": 1e12, "GB": 1e9, "MB": 1e6, "KB": 1e3, "B": 1}
	for _, unit := range sizeUnits() {
		digits, ok := strings.CutSuffix(s, unit)
		if !ok {
			continue
		}
		digits = strings.TrimRight(digits, " ")
		if digits == "" || len(digits) > 20 || strings.Trim(digits, "0123456789.") != "" {
			return 0, false
		}
		n, ok := new(big.Rat).SetString(digits)
		if !ok {
			return 0, false
		}
		n.Mul(n, new(big.Rat).SetInt64(factors[unit]))
		if !n.IsInt() || !n.Num().IsInt64() {
			return 0, false
		}
		return n.Num().Int64(), true
	}
	return 0, false
}
