package eventstore

import (
	"zombiezen.com/go/sqlite"
)

// rebuildWriter is the base of a rebuild's view, which caches every row: a row that is
// not cached does not exist. A goroutine of its own writes the rows.
type rebuildWriter struct {
	base sqliteBase
	jobs chan func(failed error) error // gets the first error so far, gives it or its own
	done chan struct{}                 // closed when the goroutine has ended
	err  error                         // the goroutine's, until done is closed
}

func startWriting(conn *sqlite.Conn) *rebuildWriter {
	w := &rebuildWriter{base: sqliteBase{conn}, jobs: make(chan func(error) error, 8), done: make(chan struct{})}
	go func() {
		defer close(w.done)
		for job := range w.jobs {
			w.err = job(w.err)
		}
	}()
	return w
}

// enqueue queues work for the writer goroutine, which skips it after an error.
func (w *rebuildWriter) enqueue(work func() error) {
	w.jobs <- func(failed error) error {
		if failed != nil {
			return failed
		}
		return work()
	}
}

// close waits until all queued work is done and returns the first error.
func (w *rebuildWriter) close() error {
	close(w.jobs)
	<-w.done
	return w.err
}

// insertAfter queues the insertion of the items after event seq into the events table.
func (w *rebuildWriter) insertAfter(items []item, seq uint64) {
	for len(items) > 0 && items[0].event.Seq <= seq {
		items = items[1:]
	}
	if len(items) > 0 {
		w.enqueue(func() error { return insertEvents(w.base.conn, items) })
	}
}

func (w *rebuildWriter) write(rows map[*projection][]row) error {
	w.enqueue(func() error { return w.base.write(rows) })
	return nil
}

// ask runs a query on the writer goroutine after all work queued before it.
func ask[V any](w *rebuildWriter, query func() (V, error)) (v V, err error) {
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

func (w *rebuildWriter) changed(t *projection, seq uint64) ([]change, error) {
	return ask(w, func() ([]change, error) { return w.base.changed(t, seq) })
}

func (w *rebuildWriter) document(key string, version int) (Document, error) {
	return ask(w, func() (Document, error) { return w.base.document(key, version) })
}

func (w *rebuildWriter) value(*projection, string) (string, bool, error) { return "", false, nil }

func (w *rebuildWriter) open(*projection, string) (uint64, string, bool, error) {
	return 0, "", false, nil
}
