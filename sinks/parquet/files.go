package parquet

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// digest is an io.Writer that counts and hashes what passes.
type digest struct {
	to   io.Writer
	hash hash.Hash
	n    int64
}

func (d *digest) Write(p []byte) (int, error) {
	n, err := d.to.Write(p)
	d.hash.Write(p[:n])
	d.n += int64(n)
	return n, err
}

// writeWhole makes the file dir/name appear whole or not at all: it is written
// under a temporary name in the same folder, synced and renamed, and the folder
// is synced. It returns the file's length and the SHA-256 of its bytes, in hex.
func writeWhole(dir, name string, fill func(io.Writer) error) (int64, string, error) {
	tmp := filepath.Join(dir, "."+name+".tmp")
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return 0, "", err
	}
	d := &digest{to: f, hash: sha256.New()}
	err = fill(d)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(tmp, filepath.Join(dir, name))
	}
	if err != nil {
		os.Remove(tmp) //nolint:errcheck // the first error is the one that matters
		return 0, "", err
	}
	return d.n, hex.EncodeToString(d.hash.Sum(nil)), syncDir(dir)
}

// syncDir makes the names in a folder durable. Some file systems cannot; there
// the names are as durable as they get.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close() //nolint:errcheck // only read from
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
		return err
	}
	return nil
}
