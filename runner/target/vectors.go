package target

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
)

// readEmbeddings reads an answer in OpenAI's form.
func readEmbeddings(body []byte, want Want) (Answer, error) {
	var a Answer
	var in struct {
		Error json.RawMessage `json:"error"`
		Usage *usage          `json:"usage"`
		Data  []struct {
			Index     *int            `json:"index"`
			Embedding json.RawMessage `json:"embedding"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return a, fmt.Errorf("no JSON of embeddings (%w)", err)
	}
	if err := said(in.Error); err != nil {
		return a, err
	}
	in.Usage.fill(&a)
	seen := make([]bool, want.Inputs)
	for i, d := range in.Data {
		if err := a.vector(i, d.Embedding); err != nil {
			return a, err
		}
		if d.Index != nil {
			if *d.Index < 0 || *d.Index >= want.Inputs || seen[*d.Index] {
				return a, fmt.Errorf("vector %d has index %d, which is out of range or came twice", i, *d.Index)
			}
			seen[*d.Index] = true
		}
		a.InputsDone++
	}
	return a, a.complete(want)
}

// readVectors reads an answer in TEI's form: a list of vectors and nothing else.
func readVectors(body []byte, want Want) (Answer, error) {
	var a Answer
	var in []json.RawMessage
	if err := json.Unmarshal(body, &in); err != nil {
		var failed struct {
			Error json.RawMessage `json:"error"`
		}
		if json.Unmarshal(body, &failed) == nil && said(failed.Error) != nil {
			return a, said(failed.Error)
		}
		return a, fmt.Errorf("no JSON of vectors (%w)", err)
	}
	for i, raw := range in {
		if err := a.vector(i, raw); err != nil {
			return a, err
		}
		a.InputsDone++
	}
	return a, a.complete(want)
}

// complete fails where there are not as many vectors as inputs.
func (a *Answer) complete(want Want) error {
	if a.InputsDone != want.Inputs {
		return fmt.Errorf("%d vectors for %d inputs", a.InputsDone, want.Inputs)
	}
	return nil
}

// vector checks the i-th vector, and that all have one dimension.
func (a *Answer) vector(i int, raw json.RawMessage) error {
	n, err := checkVector(raw)
	if err != nil {
		return fmt.Errorf("vector %d: %w", i, err)
	}
	if a.Dimensions == 0 {
		a.Dimensions = n
	}
	if n != a.Dimensions {
		return fmt.Errorf("vector %d has %d dimensions, those before it %d", i, n, a.Dimensions)
	}
	return nil
}

// checkVector counts a vector's numbers, which are a list or base64 of float32 in
// little-endian order. It fails on a vector that is empty, all zero, not finite as
// float32, or neither of the two.
func checkVector(raw json.RawMessage) (dimensions int, err error) {
	if len(raw) > 0 && raw[0] == '"' {
		return checkBase64(raw)
	}
	return checkList(raw)
}

func checkBase64(raw json.RawMessage) (dimensions int, err error) {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return 0, err
	}
	b, err := base64.StdEncoding.DecodeString(text)
	switch {
	case err != nil:
		return 0, fmt.Errorf("no base64: %w", err)
	case len(b) == 0 || len(b)%4 != 0:
		return 0, fmt.Errorf("base64 of %d bytes, which is no number of float32", len(b))
	}
	nonZero := false
	for i := 0; i < len(b); i += 4 {
		f := float64(math.Float32frombits(binary.LittleEndian.Uint32(b[i:])))
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return 0, errors.New("a number is not finite")
		}
		nonZero = nonZero || f != 0
	}
	if !nonZero {
		return 0, errAllZero
	}
	return len(b) / 4, nil
}

var errAllZero = errors.New("all its numbers are zero")

// checkList counts a list's numbers without converting them: the decoder has seen
// that they are JSON.
func checkList(raw json.RawMessage) (dimensions int, err error) {
	if len(raw) < 3 || raw[0] != '[' {
		return 0, errors.New("no list of numbers")
	}
	nonZero, start := false, 1
	for i := 1; i < len(raw); i++ {
		if raw[i] != ',' && raw[i] != ']' {
			continue
		}
		nz, err := checkNumber(raw[start:i])
		if err != nil {
			return 0, err
		}
		nonZero = nonZero || nz
		dimensions++
		start = i + 1
	}
	if !nonZero {
		return 0, errAllZero
	}
	return dimensions, nil
}

func checkNumber(b []byte) (nonZero bool, err error) {
	exponent := false
	for _, ch := range b {
		switch {
		case ch >= '1' && ch <= '9':
			nonZero = true
		case ch == 'e' || ch == 'E':
			exponent = true
		case ch == '0' || ch == '-' || ch == '+' || ch == '.' || ch == ' ' || ch == '\n' || ch == '\r' || ch == '\t':
		default:
			return false, errors.New("it holds something that is no number")
		}
	}
	if exponent {
		f, err := strconv.ParseFloat(string(trimSpace(b)), 32)
		if err != nil {
			return false, fmt.Errorf("a number is not finite: %w", err)
		}
		return f != 0, nil
	}
	return nonZero, nil
}

func trimSpace(b []byte) []byte {
	for len(b) > 0 && b[0] <= ' ' {
		b = b[1:]
	}
	for len(b) > 0 && b[len(b)-1] <= ' ' {
		b = b[:len(b)-1]
	}
	return b
}
