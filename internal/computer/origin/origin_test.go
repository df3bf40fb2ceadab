package origin

import (
	"crypto/rand"
	"crypto/sha256"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"choiros/internal/blob"
	"choiros/internal/blob/mem"
	"choiros/internal/choir"
	"choiros/internal/computer/appender"
	"choiros/internal/eventstore"
	"choiros/internal/snapshot"
)

// lab is the origin of a computer whose log lies in a folder.
type lab struct {
	*Origin
	t      *testing.T
	id     choir.ID
	log    *eventstore.Store
	events *appender.Appender
	keeper *snapshot.Keeper
}

// openLab opens the log in a folder as a computer, until the test ends or close.
func openLab(t *testing.T, id choir.ID, dir string, blobs blob.Store) *lab {
	t.Helper()
	log := must(eventstore.Open(t.Context(), dir, eventstore.Config{
		Computer: id, User: id, Blobs: blobs, Now: func() choir.Time { return choir.TimeOf(time.Now()) },
	}))(t)
	t.Cleanup(func() { _ = log.Close() }) // twice is no error that counts
	l := &lab{t: t, id: id, log: log, events: appender.New(log, id, newID, slog.New(slog.DiscardHandler)), keeper: snapshot.NewKeeper(blobs)}
	l.Origin = New(id, log, l.events, l.keeper)
	return l
}

func newID() (choir.ID, error) { return choir.NewID(choir.TimeOf(time.Now()), rand.Reader) }

// must ends the test at an error.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// append appends events of no run. It returns the last one's number.
func (l *lab) append(payloads ...choir.Payload) uint64 {
	l.t.Helper()
	receipts := must(l.events.Append(l.t.Context(), choir.RoleControl, payloads...))(l.t)
	return receipts[len(receipts)-1].Seq
}

// fork closes the log and opens it as that of a computer which begins with its past.
func (l *lab) fork(dir string, blobs blob.Store) (fork *lab, last uint64) {
	l.t.Helper()
	last, hash := l.log.Head()
	if err := l.log.Close(); err != nil {
		l.t.Fatal(err)
	}
	fork = openLab(l.t, must(newID())(l.t), dir, blobs)
	fork.append(choir.ComputerForked{From: l.id, Seq: last, Hash: hash, Name: "fork"})
	return fork, last
}

func TestAForkBeginsAfterThePastItCameWith(t *testing.T) {
	t.Parallel()
	dir, blobs := t.TempDir(), mem.New(mem.Config{})
	l := openLab(t, must(newID())(t), dir, blobs)
	l.append(choir.ComputerCreated{Name: "lab", Format: 1}, choir.SessionEnded{Reason: "x"})
	if begins, err := l.Begins(t.Context()); err != nil || begins != 1 {
		t.Errorf("the first computer begins at %d, %v", begins, err)
	}
	if from, seq, err := l.ForkedFrom(t.Context()); err != nil || from != "" || seq != 0 {
		t.Errorf("it was forked from %s at %d, %v", from, seq, err)
	}
	fork, last := l.fork(dir, blobs)
	if begins, err := fork.Begins(t.Context()); err != nil || begins != last+1 {
		t.Errorf("the fork begins at %d, %v", begins, err)
	}
	if from, seq, err := fork.ForkedFrom(t.Context()); err != nil || from != l.id || seq != last {
		t.Errorf("it was forked from %s at %d, %v; the first is %s", from, seq, err, l.id)
	}
}

// TestTheRelayGetsOnlyTheComputersOwnEvents reads a fork's log as its relay does.
func TestTheRelayGetsOnlyTheComputersOwnEvents(t *testing.T) {
	t.Parallel()
	dir, blobs := t.TempDir(), mem.New(mem.Config{})
	l := openLab(t, must(newID())(t), dir, blobs)
	l.append(choir.ComputerCreated{Name: "lab", Format: 1}, choir.SessionEnded{Reason: "x"})
	fork, last := l.fork(dir, blobs)
	head := fork.append(choir.SessionEnded{Reason: "x"})
	own := must(fork.Own(t.Context()))(t)
	for after, want := range map[uint64]uint64{0: last + 1, last: last + 1, last + 1: head} {
		events := must(choir.Collect(own.Events(t.Context(), after+1, 0), 1))(t)
		if len(events) != 1 || events[0].Seq != want {
			t.Errorf("after %d came %+v", after, events)
		}
	}
	if _, err := own.At(t.Context(), last); choir.CodeOf(err) != choir.CodeNotFound {
		t.Errorf("an event of the past: %v", err)
	}
	if e, err := own.At(t.Context(), last+1); err != nil || e.Seq != last+1 {
		t.Errorf("the first of its own: %+v, %v", e, err)
	}
}

func TestTheLogOfAnotherComputerIsRefused(t *testing.T) {
	t.Parallel()
	dir, blobs := t.TempDir(), mem.New(mem.Config{})
	l := openLab(t, must(newID())(t), dir, blobs)
	if err := l.MustBeOwn(t.Context(), dir); err != nil {
		t.Errorf("an empty log: %v", err)
	}
	l.append(choir.ComputerCreated{Name: "lab", Format: 1})
	if err := New(l.id, l.log, l.events, l.keeper).MustBeOwn(t.Context(), dir); err != nil {
		t.Errorf("its own: %v", err)
	}
	other := New(must(newID())(t), l.log, l.events, l.keeper)
	if err := other.MustBeOwn(t.Context(), dir); choir.CodeOf(err) != choir.CodeConflict || !strings.Contains(err.Error(), dir) {
		t.Errorf("another's: %v", err)
	}
}

func TestAForkIsRecordedOnce(t *testing.T) {
	t.Parallel()
	l := openLab(t, must(newID())(t), t.TempDir(), mem.New(mem.Config{}))
	l.append(choir.ComputerCreated{Name: "lab", Format: 1})
	fork := must(newID())(t)
	for range 2 {
		if err := l.RecordFork(t.Context(), choir.RoleCLI, fork, 1); err != nil {
			t.Fatal(err)
		}
	}
	if head, _ := l.log.Head(); head != 2 {
		t.Errorf("the log has %d events", head)
	}
}

// TestTheTreeOfAPastIsLeftWithoutContentThatDidNotComeAlong withholds a file that looks like
// a key, as a fork does.
func TestTheTreeOfAPastIsLeftWithoutContentThatDidNotComeAlong(t *testing.T) {
	t.Parallel()
	dir, all, some := t.TempDir(), mem.New(mem.Config{}), mem.New(mem.Config{})
	put := func(to blob.Store, content string) choir.Digest {
		d, _, err := to.Put(t.Context(), strings.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	tree := snapshot.Manifest{Mode: 0o755, Entries: []snapshot.Entry{
		{Name: "a", Kind: snapshot.File, Mode: 0o644, Size: 2, Sum: sha256.Sum256([]byte("a\n"))},
		{Name: "key", Kind: snapshot.File, Mode: 0o600, Size: 7, Sum: sha256.Sum256([]byte("secret\n"))},
	}}
	put(all, "a\n")
	put(some, "a\n")
	put(all, "secret\n")
	whole := put(all, string(tree.Encode()))
	put(some, string(tree.Encode()))
	l := openLab(t, must(newID())(t), dir, all)
	l.append(choir.ComputerCreated{Name: "lab", Format: 1})
	if left, lacking, err := l.Available(t.Context(), whole); err != nil || left != whole || len(lacking) > 0 {
		t.Errorf("of its own past: %s without %q, %v", left, lacking, err)
	}
	fork, _ := l.fork(dir, some)
	left, lacking, err := fork.Available(t.Context(), whole)
	if err != nil || left == whole || !slices.Equal(lacking, []string{"key"}) {
		t.Errorf("%s without %q, %v", left, lacking, err)
	}
	if _, _, err := fork.Available(t.Context(), choir.DigestOf([]byte("collected"))); choir.CodeOf(err) != choir.CodeNotFound {
		t.Errorf("a tree that was collected: %v", err)
	}
}
