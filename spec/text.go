package spec

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"unicode/utf8"
)

// Bounds on text files.
const (
	maxText  = 64 << 20  // bytes of one
	maxTexts = 256 << 20 // of all: they are held in memory
)

// texts are the files read so far.
type texts struct {
	byHash map[string][]byte
	byPath map[string]string // the hash, or "" where it was reported
	failed map[string]failure
	total  int
}

// failure is why a file can't be used, and where that was said.
type failure struct {
	at  int
	why string
}

func newTexts() texts {
	return texts{byHash: map[string][]byte{}, byPath: map[string]string{}, failed: map[string]failure{}}
}

// textFile reads a file beside the spec and gives the SHA-256 of its bytes. It is
// kept as it is, byte by byte: a text that differs in its Unicode normal form
// alone has other tokens.
func (l *loader) textFile(f *fields, name string) string {
	if hash, ok := l.texts.byPath[name]; ok {
		switch was := l.texts.failed[name]; {
		case hash != "":
		case was.at == f.rng("text_file").Start.Byte: // the same block, in another cell
			l.errorAt(f.rng("text_file"), sumBadText, "%s", was.why)
		default:
			l.errorAt(f.rng("text_file"), sumBadText, "%s can't be used, as said above.", clip(name))
		}
		return hash
	}
	b, why := l.readText(name)
	switch {
	case why != "":
	case len(b) == 0:
		why = clip(name) + " is empty."
	case !utf8.Valid(b):
		why = clip(name) + " is not valid UTF-8."
	case l.texts.total+len(b) > maxTexts:
		why = fmt.Sprintf("The text files of one experiment may have %d MiB together.", maxTexts>>20)
	}
	l.texts.byPath[name] = ""
	if why != "" {
		l.texts.failed[name] = failure{f.rng("text_file").Start.Byte, why}
		l.errorAt(f.rng("text_file"), sumBadText, "%s", why)
		return ""
	}
	l.texts.total += len(b)
	sum := sha256.Sum256(b)
	hash := hex.EncodeToString(sum[:])
	l.texts.byHash[hash], l.texts.byPath[name] = b, hash
	return hash
}

// readText gives the bytes, or in a sentence why there are none.
func (l *loader) readText(name string) ([]byte, string) {
	local := filepath.FromSlash(name)
	if !filepath.IsLocal(local) {
		return nil, clip(name) + " must be a path within the folder of the experiment file, or below it."
	}
	dir := filepath.Dir(l.path)
	var b []byte
	var err error
	if l.opts.ReadFile != nil {
		b, err = l.opts.ReadFile(filepath.Join(dir, local))
	} else {
		b, err = readWithin(dir, local)
	}
	if err == nil && len(b) > maxText {
		err = errTooLarge
	}
	switch {
	case err == nil:
		return b, ""
	case errors.Is(err, errTooLarge):
		return nil, fmt.Sprintf("%s is too large: a text file may have %d MiB.", clip(name), maxText>>20)
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Sprintf("There is no such file beside the spec: %s (looked in %s).", clip(name), dir)
	default:
		return nil, clip(name) + ": " + err.Error()
	}
}

var (
	errTooLarge   = errors.New("the file is too large")
	errNotRegular = errors.New("it is not a regular file")
)

// readWithin reads a regular file of a folder. The root keeps links from leading
// outside it, and a pipe is refused before it is opened, for that would wait.
func readWithin(dir, name string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // nothing was written
	info, err := root.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errNotRegular
	}
	return readBounded(root.Open, name, maxText)
}

// readBounded reads at most so many bytes and one, which tells that there are more.
func readBounded(open func(string) (*os.File, error), name string, most int64) ([]byte, error) {
	f, err := open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	return io.ReadAll(io.LimitReader(f, most+1))
}
