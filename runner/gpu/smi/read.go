package smi

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"rung/sinks/record"
)

// maxLine bounds a line, in bytes. A longer one is none of the tool's.
const maxLine = 64 << 10

// Read reads a text to its end and hands on each sample as it comes. It stops at an
// error of each, or where the text can't be used.
func Read(r io.Reader, p *Parser, each func(record.Sample) error) error {
	b := bufio.NewReaderSize(r, maxLine)
	for {
		line, err := b.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			p.skip(clean(line[:min(len(line), 200)]))
			if err = discardLine(b); err == nil {
				continue
			}
			line = nil
		}
		if s, ok := p.Line(line); ok {
			if err := each(s); err != nil {
				return err
			}
		}
		if refused := p.Err(); refused != nil {
			return refused
		}
		if errors.Is(err, io.EOF) {
			return p.End()
		}
		if err != nil {
			return err
		}
	}
}

func discardLine(b *bufio.Reader) error {
	for {
		if _, err := b.ReadSlice('\n'); !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

// clean makes a line valid UTF-8 on one line.
func clean(line []byte) string {
	text := string(line)
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	return strings.TrimSpace(record.OneLine(text))
}

// split cuts a line of CSV. The tool itself puts nothing in quotes; programs that
// write its lines anew may.
func split(text string) []string {
	var out []string
	quoted, from := false, 0
	for i := range len(text) {
		switch {
		case text[i] == '"':
			quoted = !quoted
		case text[i] == ',' && !quoted:
			out, from = append(out, bare(text[from:i])), i+1
		}
	}
	return append(out, bare(text[from:]))
}

func bare(cell string) string { return strings.TrimSpace(strings.Trim(strings.TrimSpace(cell), `"`)) }

// isLost says whether a line tells of a card that is gone.
func isLost(text string) bool {
	for _, words := range []string{"Unable to determine the device handle", "GPU is lost", "fallen off the bus"} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}
