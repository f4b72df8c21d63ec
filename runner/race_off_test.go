//go:build !race

package runner

const raced = false
