package rows

import (
	"iter"
	"slices"

	"rung/sinks/record"
)

// Table is the requests of a run. The zero value is none's; New makes one.
type Table struct {
	kinds    *kinds
	attempts map[record.Place]*Attempt // by their place without its value
	likely   int                       // requests of an attempt: those of the last one that is whole
	sealed   []*Attempt                // in order; nil while requests are added
	n        int
}

// New makes an empty table.
func New() *Table { return &Table{kinds: newKinds(), attempts: map[record.Place]*Attempt{}} }

// Of makes the table of some requests.
func Of(requests []record.Request) *Table {
	t := New()
	t.Add(requests)
	return t
}

// Add takes requests, in any order, until the table is looked at for the first time. It
// keeps nothing of them but their lists of gaps.
func (t *Table) Add(requests []record.Request) {
	if t.sealed != nil {
		panic("rows: requests were added to a table that is in use")
	}
	t.n += len(requests)
	var last *Attempt
	for i := range requests {
		q := &requests[i]
		at := q.Place
		at.Value = 0
		if last == nil || last.Place != at {
			if last != nil { // mostly it is whole when the next comes
				last.fit()
				t.likely = last.Len()
			}
			last = t.attempt(at)
		}
		last.add(q)
	}
}

func (t *Table) attempt(at record.Place) *Attempt {
	a := t.attempts[at]
	if a == nil {
		a = &Attempt{Place: at, kinds: t.kinds, times: make([]record.Times, 0, t.likely), kind: make([]uint32, 0, t.likely)}
		t.attempts[at] = a
	}
	return a
}

// Len is how many requests there are.
func (t *Table) Len() int {
	if t == nil {
		return 0
	}
	return t.n
}

// Attempts gives the attempts in order of their places.
func (t *Table) Attempts() []*Attempt {
	if t == nil || t.n == 0 {
		return nil
	}
	if t.sealed == nil {
		for _, a := range t.attempts {
			a.seal()
			t.sealed = append(t.sealed, a)
		}
		slices.SortFunc(t.sealed, func(x, y *Attempt) int { return x.Place.Compare(y.Place) })
	}
	return t.sealed
}

// All gives all requests, attempt by attempt.
func (t *Table) All() iter.Seq[Row] {
	return func(yield func(Row) bool) {
		for _, a := range t.Attempts() {
			for r := range a.All() {
				if !yield(r) {
					return
				}
			}
		}
	}
}

// Kinds gives the kinds of all requests, see Attempt.Kinds.
func (t *Table) Kinds() iter.Seq2[*Kind, int] {
	return func(yield func(*Kind, int) bool) {
		for _, a := range t.Attempts() {
			for k, n := range a.Kinds() {
				if !yield(k, n) {
					return
				}
			}
		}
	}
}

// Where gives the table with the requests alone that are wanted, or itself where all are.
func (t *Table) Where(wanted func(Row) bool) *Table {
	if t == nil {
		return nil
	}
	out := &Table{kinds: t.kinds}
	for _, a := range t.Attempts() {
		if kept := a.Where(wanted); kept.Len() > 0 {
			out.sealed, out.n = append(out.sealed, kept), out.n+kept.Len()
		}
	}
	if out.n == t.n {
		return t
	}
	return out
}
