package parquet

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"

	"rung/sinks/record"
)

// scanners is how many parts are decoded at once.
const scanners = 2

// ScanRequests gives the table requests of the run in dir, whose manifest is m, some rows
// at a time and part by part in no order. A slice is good until the next is given, but for
// the lists in it. Only the named columns are filled in; without any, all are. For what is
// checked see scan.
//
// Of a run that has not ended in order, requests whose round has no verdict are given too,
// and count nowhere.
func ScanRequests(dir string, m record.Manifest, columns []string, yield func([]record.Request)) error {
	return scanRequests(dir, m, scanners, columns, yield)
}

func scanRequests(dir string, m record.Manifest, workers int, columns []string, yield func([]record.Request)) error {
	all, err := sources(dir, m, requests().name)
	if err != nil {
		return err
	}
	if !Unfinished(dir, m) {
		return scanAll(all, m, workers, columns, yield)
	}
	events, err := ReadEvents(dir, m)
	if err != nil {
		return err
	}
	drafts, err := readDrafts(dir, m)
	if err != nil {
		return err
	}
	came := record.Came{} // without the drafts: they have no verdict
	if err := scanAll(all, m, workers, nil, func(rows []record.Request) {
		came.Add(rows)
		drafts.drop(rows)
	}); err != nil {
		return err
	}
	judged := came.Judged(events)
	if err := scanAll(all, m, workers, columns, func(rows []record.Request) {
		record.Void(rows, judged)
		yield(rows)
	}); err != nil {
		return err
	}
	yield(drafts.left())
	return nil
}

// scanAll scans some parts at once; one slice of rows is given at a time. The error is that
// of the first of them in order.
func scanAll(all []source, m record.Manifest, workers int, columns []string, yield func([]record.Request)) error {
	errs := make([]error, len(all))
	var mu sync.Mutex
	next := 0
	take := func() int {
		mu.Lock()
		defer mu.Unlock()
		next++
		return next - 1
	}
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			t := requests().only(columns) // of its own, since a column remembers its last cell
			for i := take(); i < len(all); i = take() {
				errs[i] = scan(all[i], m, t, func(rows []record.Request) {
					mu.Lock()
					defer mu.Unlock()
					yield(rows)
				})
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// only gives the table with some columns, and the one that says whose a row is; without
// any, itself.
func (t table[T]) only(columns []string) table[T] {
	if len(columns) == 0 {
		return t
	}
	t.columns = slices.DeleteFunc(slices.Clone(t.columns), func(c column[T]) bool {
		return c.name != runColumn && !slices.Contains(columns, c.name)
	})
	return t
}

// draftKey is what a draft shares with its row.
type draftKey struct {
	id     string
	sentTS float64
	place  record.Place
}

func keyOf(r *record.Request) draftKey { return draftKey{r.ID, r.SentTS, r.Place} }

// lost are the requests whose rows have not come, in the order in which they came back.
type lost struct {
	rows []record.Request
	gone map[draftKey]bool // their rows have come
}

// readDrafts reads the journal's drafts.
func readDrafts(dir string, m record.Manifest) (*lost, error) {
	out := &lost{gone: map[draftKey]bool{}}
	file := filepath.Join(dir, journalFolder, draftsFile)
	b, err := readBounded(file, maxPartBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	s := source{file: file, log: &leftover{file: file, body: b}}
	if err := scan(s, m, requests(), func(rows []record.Request) { out.rows = append(out.rows, rows...) }); err != nil {
		return nil, err
	}
	for i := range out.rows {
		out.rows[i].Counted, out.rows[i].RejectReason = false, record.NoVerdict
		out.gone[keyOf(&out.rows[i])] = false
	}
	return out, nil
}

// drop leaves out those whose rows have come.
func (l *lost) drop(rows []record.Request) {
	if len(l.rows) == 0 {
		return
	}
	for i := range rows {
		k := keyOf(&rows[i])
		if _, mine := l.gone[k]; mine {
			l.gone[k] = true
		}
	}
}

func (l *lost) left() []record.Request {
	return slices.DeleteFunc(l.rows, func(r record.Request) bool { return l.gone[keyOf(&r)] })
}
