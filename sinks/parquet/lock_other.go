//go:build !unix

package parquet

import "os"

// takeLock keeps nobody out where there are no locks of this kind.
func takeLock(file string) (unlock func() error, err error) {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	return f.Close, nil
}
