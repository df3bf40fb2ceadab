package hub_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"choiros/internal/bus/bustest"
	"choiros/internal/bus/hub"
	"choiros/internal/choir"
)

// relaying runs a relay until stop, which waits for it.
func relaying(t *testing.T, s *hub.Server, l *bustest.Log, cursor string) (stop func()) {
	t.Helper()
	return running(t, hub.NewRelay(s, l, bustest.Cursor(cursor), l.Home.User, l.Home.Computer))
}

func running(t *testing.T, r *hub.Relay) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.Serve(ctx) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			if err := <-done; err != context.Canceled {
				t.Errorf("the relay ended with %v", err)
			}
		})
	}
	t.Cleanup(stop)
	return stop
}

func last(seqs []uint64) uint64 {
	if len(seqs) == 0 {
		return 0
	}
	return seqs[len(seqs)-1]
}

// stateOf says what the stream holds.
func stateOf(t *testing.T, js jetstream.JetStream) jetstream.StreamState {
	t.Helper()
	stream, err := js.Stream(bustest.Within(t), hub.StreamName)
	if err != nil {
		t.Fatal(err)
	}
	return stream.CachedInfo().State
}

// stored reads the stream from its beginning until it holds the log's newest
// event, and returns the sequence numbers in the stream's order.
func stored(t *testing.T, s *hub.Server, l *bustest.Log) []uint64 {
	t.Helper()
	nc := connect(t, s, choir.RoleControl, l.Home)
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	ctx := bustest.Within(t)
	// Without a filter: with two of them the server searches all subjects for each message.
	cons, err := js.OrderedConsumer(ctx, hub.StreamName, jetstream.OrderedConsumerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	msgs, err := cons.Messages()
	if err != nil {
		t.Fatal(err)
	}
	defer msgs.Stop()
	defer context.AfterFunc(ctx, msgs.Stop)()
	var seqs []uint64
	for {
		m, err := msgs.Next()
		if err != nil {
			t.Fatalf("%d events came, to event %d; the newest of the log is %d, the bus says %v of itself: %v",
				len(seqs), last(seqs), l.Head(), s.Healthy(), err)
		}
		var e choir.Event
		if err := json.Unmarshal(m.Data(), &e); err != nil {
			t.Fatal(err)
		}
		if m.Headers().Get(nats.MsgIdHdr) != string(e.Computer)+"/"+string(e.ID) {
			t.Fatalf("event %d came as %s", e.Seq, m.Headers().Get(nats.MsgIdHdr))
		}
		if e.Computer == l.Home.Computer {
			seqs = append(seqs, e.Seq)
		}
		meta, err := m.Metadata()
		if err != nil {
			t.Fatal(err)
		}
		// What the server calls pending counts messages that made room meanwhile.
		if last(seqs) == l.Head() && meta.Sequence.Stream >= stateOf(t, js).LastSeq {
			return seqs
		}
	}
}

// mustBe fails unless the numbers are first, first+1, ... last.
func mustBe(t *testing.T, seqs []uint64, first, last uint64) {
	t.Helper()
	if len(seqs) == 0 || seqs[0] != first || seqs[len(seqs)-1] != last {
		t.Fatalf("%d events, from %v, want %d to %d", len(seqs), seqs[:min(3, len(seqs))], first, last)
	}
	for i, seq := range seqs {
		if seq != first+uint64(i) {
			t.Fatalf("event %d is at place %d, want %d", seq, i, first+uint64(i))
		}
	}
}

func TestARelayPublishesEveryEventOnceAndInOrder(t *testing.T) {
	t.Parallel()
	s, l := bustest.Start(t), bustest.NewLog(bustest.NewHome(t))
	other := bustest.NewLog(bustest.NewHome(t))
	l.Append(3*hub.RelayBatch + 7)
	other.Append(50)
	relaying(t, s, l, filepath.Join(t.TempDir(), "relay.json"))
	relaying(t, s, other, filepath.Join(t.TempDir(), "relay.json"))
	mustBe(t, stored(t, s, l), 1, l.Head())
	l.Append(5)
	mustBe(t, stored(t, s, l), 1, l.Head())
	mustBe(t, stored(t, s, other), 1, other.Head())
}

// TestEventsOfTwoComputersWithOneIDAreBothThere: a task that its author gave an
// id was sent to two computers at the same time.
func TestEventsOfTwoComputersWithOneIDAreBothThere(t *testing.T) {
	t.Parallel()
	s, l := bustest.Start(t), bustest.NewLog(bustest.NewHome(t))
	other := bustest.NewLog(bustest.Home{User: l.Home.User, Computer: bustest.NewID(t)})
	other.Base = l.Home.Computer
	l.Append(40)
	other.Append(40)
	cursor := filepath.Join(t.TempDir(), "relay.json")
	relaying(t, s, l, filepath.Join(t.TempDir(), "relay.json"))
	mustBe(t, stored(t, s, l), 1, 40)
	stop := relaying(t, s, other, cursor)
	mustBe(t, stored(t, s, other), 1, 40)
	// It resumes behind its own events and not behind the other's.
	stop()
	other.Append(3)
	relaying(t, s, other, cursor)
	mustBe(t, stored(t, s, other), 1, 43)
	mustBe(t, stored(t, s, l), 1, 40)
}

func TestARelayThatCrashedResumesWithoutDuplicates(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(path string) error{
		"cursor kept":        func(string) error { return nil },
		"cursor lost":        os.Remove,
		"cursor rolled back": func(p string) error { return os.WriteFile(p, []byte(`{"version":1,"seq":3}`), 0o600) },
		"cursor ahead":       func(p string) error { return os.WriteFile(p, []byte(`{"version":1,"seq":900000}`), 0o600) },
		"cursor torn":        func(p string) error { return os.WriteFile(p, []byte(`{"vers`), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, l, cursor := bustest.Start(t), bustest.NewLog(bustest.NewHome(t)), filepath.Join(t.TempDir(), "relay.json")
			l.Append(300)
			stop := relaying(t, s, l, cursor)
			stored(t, s, l)
			stop()
			if err := spoil(cursor); err != nil {
				t.Fatal(err)
			}
			l.Append(20)
			relaying(t, s, l, cursor)
			mustBe(t, stored(t, s, l), 1, l.Head())
		})
	}
}

func TestAnOutageOfTheBusDelaysAndLosesNothing(t *testing.T) {
	t.Parallel()
	s, l := bustest.Start(t), bustest.NewLog(bustest.NewHome(t))
	relaying(t, s, l, filepath.Join(t.TempDir(), "relay.json"))
	for range 4 {
		l.Append(2 * hub.RelayBatch) // the restart falls somewhere into it
		if err := s.Restart(bustest.Within(t)); err != nil {
			t.Fatal(err)
		}
	}
	l.Append(1)
	mustBe(t, stored(t, s, l), 1, l.Head())
}

func TestAConsumerThatDropsDuplicatesSeesAnOutageAsNothing(t *testing.T) {
	t.Parallel()
	s, l := bustest.Start(t), bustest.NewLog(bustest.NewHome(t))
	answerFrom(t, s, l)
	c := bustest.Dial(t, s, choir.RoleDirector, l.Home)
	relaying(t, s, l, filepath.Join(t.TempDir(), "relay.json"))
	next := uint64(1)
	const total = 900
	ctx, cancel := context.WithCancel(bustest.Within(t))
	defer cancel()
	done := make(chan error, 1)
	go func() {
		done <- c.Follow(ctx, 0, func(e choir.Event) error {
			if e.Seq != next {
				t.Errorf("event %d after event %d", e.Seq, next-1)
			}
			if next++; next > total {
				cancel()
			}
			return nil
		})
	}()
	for range 3 {
		l.Append(total / 3)
		if err := s.Restart(bustest.Within(t)); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-done; err != context.Canceled || next != total+1 {
		t.Fatalf("followed up to %d of %d: %v", next-1, total, err)
	}
}

// misplaced is a cursor of another log.
type misplaced struct{ bustest.Cursor }

func (misplaced) Load(context.Context) (uint64, error) {
	return 0, choir.E("test", choir.CodeConflict, "it is of another log")
}

func TestARelayWhoseCursorIsOfAnotherLogBeginsWithTheFirstEvent(t *testing.T) {
	t.Parallel()
	s, l := bustest.Start(t), bustest.NewLog(bustest.NewHome(t))
	l.Append(20)
	running(t, hub.NewRelay(s, l, misplaced{bustest.Cursor(filepath.Join(t.TempDir(), "cursor"))}, l.Home.User, l.Home.Computer))
	mustBe(t, stored(t, s, l), 1, l.Head())
}

func TestALostStreamGetsTheTailAgain(t *testing.T) {
	t.Parallel()
	dir, cursor := t.TempDir(), filepath.Join(t.TempDir(), "relay.json")
	s, err := hub.Start(t.Context(), hub.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	l := bustest.NewLog(bustest.NewHome(t))
	l.Append(1500)
	stop := relaying(t, s, l, cursor)
	mustBe(t, stored(t, s, l), 1, l.Head())
	stop()
	s.Close()
	// The stream may hold more than the relay has heard of.
	held, err := bustest.Cursor(cursor).Load(t.Context())
	if err != nil || held <= 1000 {
		t.Fatalf("the cursor is at %d: %v", held, err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "store")); err != nil {
		t.Fatal(err)
	}
	if s, err = hub.Start(t.Context(), hub.Config{Dir: dir}); err != nil {
		t.Fatal(err)
	}
	running(t, hub.NewRelay(s, l, bustest.Cursor(cursor), l.Home.User, l.Home.Computer).WithTail(1000))
	mustBe(t, stored(t, s, l), held-999, l.Head())
}

func TestAReplacedLogReplacesWhatTheStreamHolds(t *testing.T) {
	t.Parallel()
	s, home, cursor := bustest.Start(t), bustest.NewHome(t), filepath.Join(t.TempDir(), "relay.json")
	old, restored, neighbour := bustest.NewLog(home), bustest.NewLog(home), bustest.NewLog(bustest.NewHome(t))
	restored.Salt = "another"
	old.Append(60)
	restored.Append(40)
	neighbour.Append(10)
	relaying(t, s, neighbour, filepath.Join(t.TempDir(), "relay.json"))
	stop := relaying(t, s, old, cursor)
	stored(t, s, old)
	stop()
	relaying(t, s, restored, cursor)
	seqs := stored(t, s, restored)
	for len(seqs) != 40 { // a look that began before the purge saw both logs
		seqs = stored(t, s, restored)
	}
	mustBe(t, seqs, 1, 40)
	mustBe(t, stored(t, s, neighbour), 1, 10)
}

func TestADamagedStoreIsFilledAgain(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(store string) error{
		"gone":            os.RemoveAll,
		"not a folder":    func(p string) error { return errors.Join(os.RemoveAll(p), os.WriteFile(p, []byte("x"), 0o600)) },
		"metadata torn":   func(p string) error { return spoilFiles(p, "meta.inf", []byte("{")) },
		"checksum wrong":  func(p string) error { return spoilFiles(p, "meta.sum", []byte("00")) },
		"messages zeroed": func(p string) error { return spoilFiles(p, "*.blk", make([]byte, 4096)) },
		"messages empty":  func(p string) error { return spoilFiles(p, "*.blk", nil) },
		"state torn":      func(p string) error { return spoilFiles(p, "index.db", []byte("torn")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, cursor := t.TempDir(), filepath.Join(t.TempDir(), "relay.json")
			l := bustest.NewLog(bustest.NewHome(t))
			l.Append(200)
			s, err := hub.Start(t.Context(), hub.Config{Dir: dir})
			if err != nil {
				t.Fatal(err)
			}
			stop := relaying(t, s, l, cursor)
			stored(t, s, l)
			stop()
			s.Close()
			if err := damage(filepath.Join(dir, "store")); err != nil {
				t.Fatal(err)
			}
			if s, err = hub.Start(t.Context(), hub.Config{Dir: dir}); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(s.Close)
			if err := s.Healthy(); err != nil {
				t.Error(err)
			}
			l.Append(10)
			relaying(t, s, l, cursor)
			seqs := stored(t, s, l)
			mustBe(t, seqs, seqs[0], l.Head())
			if seqs[0] > 201 {
				t.Errorf("event 201 was never delivered, only %d and later", seqs[0])
			}
		})
	}
}

// spoilFiles overwrites the beginning of every file of that name; nothing cuts
// it to nothing.
func spoilFiles(dir, name string, with []byte) error {
	found := 0
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if match, _ := filepath.Match(name, filepath.Base(path)); err != nil || !match {
			return err
		}
		found++
		if len(with) == 0 {
			return os.Truncate(path, 0)
		}
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = f.Write(with)
		return errors.Join(err, f.Close())
	})
	if err == nil && found == 0 {
		err = errors.New("no file is called " + name)
	}
	return err
}

func TestCredentialsOutliveARestart(t *testing.T) {
	t.Parallel()
	dir, home := t.TempDir(), bustest.NewHome(t)
	first, err := hub.Start(t.Context(), hub.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	creds, err := first.Mint(choir.RoleDirector, home.User, home.Computer, time.Hour)
	first.Close()
	if err != nil {
		t.Fatal(err)
	}
	second, err := hub.Start(t.Context(), hub.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(second.Close)
	bustest.DialWith(t, second.Dial, creds, choir.RoleDirector, home)
	keys, err := filepath.Glob(filepath.Join(dir, "keys", "*"))
	if err != nil || len(keys) != 3 {
		t.Fatalf("keys %v, %v", keys, err)
	}
	for _, key := range keys {
		if info, err := os.Stat(key); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, %v", key, info.Mode(), err)
		}
	}
}
