package eventstore

import (
	"context"
	"encoding/binary"
	"flag"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"choiros/internal/choir"
)

// ordinaryRun says that nobody asked for more checks.
var ordinaryRun bool

func TestMain(m *testing.M) {
	if dir := os.Getenv("CHOIR_STORE_CHILD"); dir != "" {
		if os.Getenv("CHOIR_STORE_MAINTAINED") != "" {
			os.Exit(maintainedChild(dir))
		}
		os.Exit(child(dir))
	}
	// Each check of a property opens stores on a disk; more with -rapid.checks.
	flag.Parse()
	if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue {
		f.Value.Set("20")
		ordinaryRun = true
	}
	goleak.VerifyTestMain(m)
}

const (
	testTime     choir.Time = 1_795_000_000_000
	testComputer choir.ID   = "019a5f3c-0000-7000-8000-000000000001"
	testUser     choir.ID   = "019a5f3c-0000-7000-8000-000000000002"
)

var ids atomic.Uint64

// newID gives ids that no other call gives.
func newID() choir.ID {
	var b [10]byte
	binary.BigEndian.PutUint64(b[2:], ids.Add(1))
	id, err := choir.NewID(testTime, &reader{b[:]})
	if err != nil {
		panic(err)
	}
	return id
}

type reader struct{ rest []byte }

func (r *reader) Read(p []byte) (int, error) {
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

func testConfig() Config {
	var ticks atomic.Int64
	return Config{Computer: testComputer, User: testUser, Now: func() choir.Time { return testTime + choir.Time(ticks.Add(1)) }}
}

func open(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(context.Background(), dir, testConfig())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func draft(t testing.TB, p choir.Payload, run, task choir.ID) choir.Draft {
	t.Helper()
	d, err := choir.NewDraft(newID(), p)
	if err != nil {
		t.Fatal(err)
	}
	return d.ForRun(run, task)
}

// add appends one event by the first role that may.
func add(t testing.TB, s *Store, run, task choir.ID, p choir.Payload) choir.Receipt {
	t.Helper()
	info, _ := choir.LookupType(p.EventType())
	r, err := s.Append(context.Background(), info.Roles[0], draft(t, p, run, task))
	if err != nil {
		t.Fatal(err)
	}
	return r[0]
}

func must[V any](t testing.TB) func(V, error) V {
	return func(v V, err error) V {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func wantCode(t testing.TB, err error, code choir.Code) {
	t.Helper()
	if choir.CodeOf(err) != code {
		t.Errorf("got %v, wanted code %s", err, code)
	}
}

func dump(t testing.TB, s *Store) choir.Digest {
	t.Helper()
	return must[choir.Digest](t)(s.Dump(context.Background(), io.Discard))
}

func TestAReaderSeesItsOwnWriteAtOnce(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := open(t, t.TempDir())
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for range 20 {
				run := newID()
				r := add(t, s, run, "", choir.PromptSubmitted{Text: "hello"})
				got, err := s.Run(ctx, run)
				if err != nil || got.FirstSeq != r.Seq || got.State != RunPlanning {
					t.Errorf("run after its prompt: %+v %v", got, err)
				}
				if e, err := s.Event(ctx, r.ID); err != nil || e.Seq != r.Seq || e.Hash != r.Hash {
					t.Errorf("event after its append: %+v %v", e, err)
				}
			}
		})
	}
	wg.Wait()
	if seq, _ := s.Head(); seq != 320 {
		t.Errorf("head is %d", seq)
	}
}

func TestARepeatedAppendGetsTheFirstReceipt(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	dir := t.TempDir()
	s := open(t, dir)
	d := draft(t, choir.PromptSubmitted{Text: "once"}, newID(), "")
	first := must[[]choir.Receipt](t)(s.Append(ctx, choir.RoleCLI, d))[0]
	check := func(s *Store) {
		t.Helper()
		other := draft(t, choir.PromptSubmitted{Text: "other"}, newID(), "")
		got := must[[]choir.Receipt](t)(s.Append(ctx, choir.RoleCLI, other, d, d))
		if got[0].Duplicate || !got[1].Duplicate || got[1].Seq != first.Seq || got[2].Hash != first.Hash {
			t.Errorf("receipts %+v, first %+v", got, first)
		}
	}
	check(s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir)
	check(s)
	if seq, _ := s.Head(); seq != 3 {
		t.Errorf("head is %d, wanted 3", seq)
	}
}

func TestTheSameDraftFromManyAtOnceIsAppendedOnce(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	d := draft(t, choir.PromptSubmitted{Text: "race"}, newID(), "")
	var wg sync.WaitGroup
	var fresh atomic.Int64
	for range 32 {
		wg.Go(func() {
			r, err := s.Append(context.Background(), choir.RoleCLI, d)
			if err != nil || r[0].Seq != 1 {
				t.Errorf("%+v %v", r, err)
			}
			if err == nil && !r[0].Duplicate {
				fresh.Add(1)
			}
		})
	}
	wg.Wait()
	if seq, _ := s.Head(); seq != 1 || fresh.Load() != 1 {
		t.Errorf("head %d, %d said it was theirs", seq, fresh.Load())
	}
}

func TestABadDraftIsRefusedWithItsFieldAndNothingIsStored(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	run := newID()
	good := draft(t, choir.PromptSubmitted{Text: "good"}, newID(), "")
	with := func(change func(*choir.Draft)) choir.Draft {
		d := draft(t, choir.PromptSubmitted{Text: "x"}, run, "")
		change(&d)
		return d
	}
	big := make([]byte, choir.InlineLimit+1)
	cases := map[string]struct {
		role choir.Role
		d    choir.Draft
		code choir.Code
		path string
	}{
		"unknown type":  {choir.RoleCLI, with(func(d *choir.Draft) { d.Type = "no.such" }), choir.CodeInvalid, "type"},
		"wrong role":    {choir.RoleAssociate, with(func(*choir.Draft) {}), choir.CodeForbidden, "type"},
		"unknown role":  {"", with(func(*choir.Draft) {}), choir.CodeForbidden, "type"},
		"no run":        {choir.RoleCLI, with(func(d *choir.Draft) { d.Run = "" }), choir.CodeInvalid, "run"},
		"bad run":       {choir.RoleCLI, with(func(d *choir.Draft) { d.Run = "x" }), choir.CodeInvalid, "run"},
		"bad id":        {choir.RoleCLI, with(func(d *choir.Draft) { d.ID = "x" }), choir.CodeInvalid, "id"},
		"unknown field": {choir.RoleCLI, with(func(d *choir.Draft) { d.Payload = []byte(`{"text":"x","y":1}`) }), choir.CodeInvalid, "payload.y"},
		"empty text":    {choir.RoleCLI, with(func(d *choir.Draft) { d.Payload = []byte(`{"text":""}`) }), choir.CodeInvalid, "payload.text"},
		"too large":     {choir.RoleCLI, with(func(d *choir.Draft) { d.Payload = big }), choir.CodeTooLarge, "payload"},
	}
	for name, c := range cases {
		_, err := s.Append(context.Background(), c.role, good, c.d)
		wantCode(t, err, c.code)
		e, ok := err.(*choir.Error)
		if !ok || !strings.HasSuffix(e.Path, "]."+c.path) {
			t.Errorf("%s: %v does not name drafts[..].%s", name, err, c.path)
		}
	}
	if seq, _ := s.Head(); seq != 0 {
		t.Errorf("%d events were stored", seq)
	}
	must[[]choir.Receipt](t)(s.Append(context.Background(), choir.RoleCLI, good))
}

func TestWaitPastReturnsWhenTheEventIsThere(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	got := make(chan error, 1)
	go func() { got <- s.WaitPast(context.Background(), 1) }()
	add(t, s, newID(), "", choir.PromptSubmitted{Text: "1"})
	add(t, s, newID(), "", choir.PromptSubmitted{Text: "2"})
	if err := <-got; err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	wantCode(t, s.WaitPast(ctx, 2), choir.CodeCancelled)
	for _, after := range []uint64{0, 1, 2} {
		events, err := s.EventsAfter(context.Background(), after, 10)
		if err != nil || len(events) != int(2-after) {
			t.Errorf("%d events after %d: %v", len(events), after, err)
		}
	}
}

func TestAClosedStoreRefuses(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := s.Append(context.Background(), choir.RoleCLI, draft(t, choir.PromptSubmitted{Text: "x"}, newID(), ""))
	wantCode(t, err, choir.CodeUnavailable)
	_, err = s.Runs(context.Background(), 1, 0)
	wantCode(t, err, choir.CodeUnavailable)
}

func TestASecondOpenIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	open(t, dir)
	_, err := Open(context.Background(), dir, testConfig())
	wantCode(t, err, choir.CodeBusy)
}
