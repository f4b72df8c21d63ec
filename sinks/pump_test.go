package sinks

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"rung/sinks/record"
)

// tape is a sink that keeps what it takes.
type tape struct {
	got    []int64
	takes  time.Duration
	fails  int64 // the item that it fails at; 0: none
	closes int
	ends   error // of Close
}

func (s *tape) Write(it record.Item) error {
	time.Sleep(s.takes)
	if s.fails > 0 && it.Request.BodyBytes == s.fails {
		return fmt.Errorf("disk full at %d", s.fails)
	}
	s.got = append(s.got, it.Request.BodyBytes)
	return nil
}

func (s *tape) Close() error {
	s.closes++
	return s.ends
}

func item(n int64) record.Item { return record.Item{Request: &record.Request{BodyBytes: n}} }

func upTo(n int64) []int64 {
	var out []int64
	for i := int64(1); i <= n; i++ {
		out = append(out, i)
	}
	return out
}

// Everything comes to every sink, in order, and nobody who puts ever waits for one.
func TestPumpKeepsOrderAndNeverBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow, quick := &tape{takes: time.Second}, &tape{}
		p := NewPump(func(err error) { t.Error(err) }, slow, quick)
		begin := time.Now()
		for i := range int64(1000) {
			p.Put(item(i + 1))
		}
		if took := time.Since(begin); took != 0 {
			t.Errorf("putting took %s", took)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		if took := time.Since(begin); took.Truncate(time.Second) != 1000*time.Second {
			t.Errorf("closing waited %s in all", took)
		}
		for _, s := range []*tape{slow, quick} {
			if !slices.Equal(s.got, upTo(1000)) || s.closes != 1 {
				t.Errorf("%d items, %d times closed", len(s.got), s.closes)
			}
		}
		p.Put(item(7)) // late, and left out
		if err := p.Close(); err != nil || slow.closes != 1 {
			t.Errorf("closed twice: %v, %d", err, slow.closes)
		}
	})
}

// Many may put at once: each one's items stay in its order.
func TestPumpIsConcurrent(t *testing.T) {
	s := &tape{}
	p := NewPump(func(err error) { t.Error(err) }, s)
	var wg sync.WaitGroup
	for g := range int64(8) {
		wg.Go(func() {
			for i := range int64(500) {
				p.Put(item(g*1000 + i))
			}
		})
	}
	wg.Wait()
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	next := [8]int64{}
	for _, n := range s.got {
		if g := n / 1000; n%1000 != next[g] {
			t.Fatalf("item %d of %d came, %d was due", n%1000, g, next[g])
		}
		next[n/1000]++
	}
	if len(s.got) != 8*500 {
		t.Errorf("%d items", len(s.got))
	}
}

// A sink that fails is told of once, and from then on nothing is written to any:
// what is there is a beginning. All are closed.
func TestPumpStopsAtFirstFailure(t *testing.T) {
	bad, good := &tape{fails: 3, ends: errors.New("close of bad")}, &tape{ends: errors.New("close of good")}
	told := make(chan error, 10)
	p := NewPump(func(err error) { told <- err }, bad, good)
	for i := range int64(100) {
		p.Put(item(i + 1))
	}
	err := p.Close()
	if err == nil || !strings.Contains(err.Error(), "writing the results: disk full at 3") {
		t.Errorf("%v", err)
	}
	close(told)
	var all []error
	for e := range told {
		all = append(all, e)
	}
	if len(all) != 1 || !errors.Is(err, all[0]) {
		t.Errorf("told %v", all)
	}
	if !slices.Equal(bad.got, upTo(2)) || !slices.Equal(good.got, upTo(3)) || bad.closes != 1 || good.closes != 1 {
		t.Errorf("%v and %v, closed %d and %d times", bad.got, good.got, bad.closes, good.closes)
	}
}

// The run is told at once, not when it ends.
func TestPumpTellsAtOnce(t *testing.T) {
	told := make(chan error)
	p := NewPump(func(err error) { told <- err }, &tape{fails: 1})
	p.Put(item(1))
	select {
	case <-told:
	case <-time.After(20 * time.Second):
		t.Error("not told")
	}
	if p.Close() == nil {
		t.Error("no error at the end")
	}
}

// Close gives the first error of closing, and closes the rest all the same.
func TestPumpClosesAll(t *testing.T) {
	first := errors.New("no space")
	a, b := &tape{ends: first}, &tape{ends: errors.New("other")}
	p := NewPump(func(error) { t.Error("told of an error of closing") }, a, b)
	if err := p.Close(); !errors.Is(err, first) || a.closes != 1 || b.closes != 1 {
		t.Errorf("%v, closed %d and %d times", err, a.closes, b.closes)
	}
}
