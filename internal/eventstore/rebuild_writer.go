package eventstore

import (
	"zombiezen.com/go/sqlite"
)

// writing is the base of a view that remembers every row of a rebuild: what it
// does not remember is not there. Rows are written by a goroutine of its own.
type writing struct {
	base sqliteBase
	jobs chan func(failed error) error // gets the first error so far, gives it or its own
	done chan struct{}                 // closed when the goroutine has ended
	err  error                         // the goroutine's, until done is closed
}

func startWriting(conn *sqlite.Conn) *writing {
	w := &writing{base: sqliteBase{conn}, jobs: make(chan func(error) error, 8), done: make(chan struct{})}
	go func() {
		defer close(w.done)
		for job := range w.jobs {
			w.err = job(w.err)
		}
	}()
	return w
}

// do queues work that is left out once something failed.
func (w *writing) do(work func() error) {
	w.jobs <- func(failed error) error {
		if failed != nil {
			return failed
		}
		return work()
	}
}

// close waits for everything to be written and gives the first error.
func (w *writing) close() error {
	close(w.jobs)
	<-w.done
	return w.err
}

// events puts those after seq into the copy.
func (w *writing) events(items []item, seq uint64) {
	for len(items) > 0 && items[0].event.Seq <= seq {
		items = items[1:]
	}
	if len(items) > 0 {
		w.do(func() error { return insertEvents(w.base.conn, items) })
	}
}

func (w *writing) write(rows map[*projection][]row) error {
	w.do(func() error { return w.base.write(rows) })
	return nil
}

// ask runs a query behind everything that is to be written before it.
func ask[V any](w *writing, query func() (V, error)) (v V, err error) {
	answered := make(chan struct{})
	w.jobs <- func(failed error) error {
		defer close(answered)
		if err = failed; err == nil {
			v, err = query()
		}
		return err
	}
	<-answered
	return v, err
}

func (w *writing) changed(t *projection, seq uint64) ([]change, error) {
	return ask(w, func() ([]change, error) { return w.base.changed(t, seq) })
}

func (w *writing) document(key string, version int) (Document, error) {
	return ask(w, func() (Document, error) { return w.base.document(key, version) })
}

func (w *writing) value(*projection, string) (string, bool, error) { return "", false, nil }

func (w *writing) open(*projection, string) (uint64, string, bool, error) { return 0, "", false, nil }
