package rows

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"rung/sinks/record"
)

// Attempt is all requests of one attempt of one round, in order of their numbers.
type Attempt struct {
	Place record.Place // but for the value, which is in its rows

	kinds *kinds
	times []record.Times
	kind  []uint32
	index []int32     // their numbers; nil where they came as 0, 1, 2, …, or have been sorted
	first []float64   // when the first token came; nil where none did
	gaps  [][]float64 // of the chunks; nil where there are none
	words map[record.Outcome]words
}

// words are those of the first failure of a name that has any.
type words struct {
	index  int
	sentTS float64
	text   string
}

// mostWords bounds what is kept of a failure's text, in bytes.
const mostWords = 2 << 10

func (a *Attempt) add(q *record.Request) {
	i := len(a.times)
	a.times = append(a.times, q.Times())
	a.kind = append(a.kind, a.kinds.of(q))
	a.number(i, q.Index)
	if q.FirstTokenTS != nil && a.first == nil {
		a.first = append(make([]float64, 0, cap(a.times)), slices.Repeat([]float64{math.NaN()}, i)...)
	}
	if a.first != nil {
		first := math.NaN()
		if q.FirstTokenTS != nil {
			first = *q.FirstTokenTS
		}
		a.first = append(a.first, first)
	}
	if len(q.ChunkGapsS) > 0 && a.gaps == nil {
		a.gaps = make([][]float64, i)
	}
	if a.gaps != nil {
		a.gaps = append(a.gaps, q.ChunkGapsS)
	}
	if q.Error != "" && q.Failed() {
		a.hear(q)
	}
}

// number keeps the number of the i-th request.
func (a *Attempt) number(i, number int) {
	if a.index == nil && number == i {
		return
	}
	if a.index == nil {
		a.index = make([]int32, i)
		for j := range a.index {
			a.index[j] = int32(j)
		}
	}
	a.index = append(a.index, int32(min(max(number, math.MinInt32), math.MaxInt32)))
}

// hear keeps the words of the failure that comes first in its round.
func (a *Attempt) hear(q *record.Request) {
	w := words{q.Index, q.SentTS, q.Error[:min(len(q.Error), mostWords)]}
	known, ok := a.words[q.Outcome]
	if ok && cmp.Or(cmp.Compare(known.index, w.index), cmp.Compare(known.sentTS, w.sentTS), cmp.Compare(known.text, w.text)) <= 0 {
		return
	}
	if a.words == nil {
		a.words = map[record.Outcome]words{}
	}
	a.words[q.Outcome] = w
}

// seal puts the requests in the order of their numbers, so that their order in the files
// means nothing. No more can be added.
func (a *Attempt) seal() {
	if a.index != nil {
		a.sort()
	}
	a.index = nil
	a.fit()
}

// fit gives back the memory that was taken for more requests.
func (a *Attempt) fit() {
	a.times, a.kind, a.first, a.gaps = fit(a.times), fit(a.kind), fit(a.first), fit(a.gaps)
}

// fit gives back the memory that a slice has beyond its length.
func fit[T any](all []T) []T {
	if cap(all)-len(all) <= len(all)/50 {
		return all
	}
	return append(make([]T, 0, len(all)), all...)
}

func (a *Attempt) sort() {
	compare := func(i, j int) int {
		x, y := a.times[i], a.times[j]
		return cmp.Or(cmp.Compare(a.index[i], a.index[j]), cmp.Compare(x.SentTS, y.SentTS), cmp.Compare(x.DoneTS, y.DoneTS), cmp.Compare(x.DueTS, y.DueTS))
	}
	sorted := true
	for i := 1; i < len(a.times) && sorted; i++ {
		sorted = compare(i-1, i) <= 0
	}
	if sorted {
		return
	}
	order := make([]int, len(a.times))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, compare)
	*a = *a.take(order)
}

// take gives the requests at some places, in that order.
func (a *Attempt) take(places []int) *Attempt {
	out := *a
	out.times, out.kind, out.index = pick(a.times, places), pick(a.kind, places), pick(a.index, places)
	out.first, out.gaps = pick(a.first, places), pick(a.gaps, places)
	return &out
}

func pick[T any](all []T, places []int) []T {
	if all == nil {
		return nil
	}
	out := make([]T, len(places))
	for i, at := range places {
		out[i] = all[at]
	}
	return out
}

// Len is how many requests there are.
func (a *Attempt) Len() int { return len(a.times) }

// At is the i-th request.
func (a *Attempt) At(i int) Row {
	r := Row{Kind: a.Kind(i), Times: a.times[i], FirstTokenTS: math.NaN()}
	if a.first != nil {
		r.FirstTokenTS = a.first[i]
	}
	if a.gaps != nil {
		r.ChunkGapsS = a.gaps[i]
	}
	return r
}

// Kind is that of the i-th request.
func (a *Attempt) Kind(i int) *Kind { return a.kinds.all[a.kind[i]] }

// Kinds gives the kinds of the requests in order, and how many follow one another that are
// of it: where only those are asked for, it takes less than All.
func (a *Attempt) Kinds() iter.Seq2[*Kind, int] {
	return func(yield func(*Kind, int) bool) {
		for i := 0; i < len(a.kind); {
			j := i + 1
			for j < len(a.kind) && a.kind[j] == a.kind[i] {
				j++
			}
			if !yield(a.Kind(i), j-i) {
				return
			}
			i = j
		}
	}
}

// All gives the requests in order.
func (a *Attempt) All() iter.Seq[Row] {
	return func(yield func(Row) bool) {
		for i := range a.times {
			if !yield(a.At(i)) {
				return
			}
		}
	}
}

// Failed gives the requests that count against the server, in order.
func (a *Attempt) Failed() iter.Seq[Row] {
	return func(yield func(Row) bool) {
		for i := range a.kind {
			if a.Kind(i).Failed() && !yield(a.At(i)) {
				return
			}
		}
	}
}

// Round is when they came and went, in the same order; what is in it is shared.
func (a *Attempt) Round() record.Round {
	if len(a.times) == 0 {
		return record.Round{}
	}
	return record.Round{InFlight: a.Kind(0).InFlight, Times: a.times}
}

// Words are what the server, or the client, said of the first of the failures of one name
// that has any.
func (a *Attempt) Words(o record.Outcome) string { return a.words[o].text }

// Where gives the attempt with the requests alone that are wanted, or itself where all are.
func (a *Attempt) Where(wanted func(Row) bool) *Attempt {
	n := 0
	for n < len(a.times) && wanted(a.At(n)) {
		n++
	}
	if n == len(a.times) {
		return a
	}
	places := make([]int, n)
	for i := range places {
		places[i] = i
	}
	for i := n + 1; i < len(a.times); i++ {
		if wanted(a.At(i)) {
			places = append(places, i)
		}
	}
	return a.take(places)
}
