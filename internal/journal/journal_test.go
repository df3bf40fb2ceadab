package journal

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"choiros/internal/choir"
)

func TestMain(m *testing.M) {
	if os.Getenv("CHOIR_JOURNAL_CHILD") != "" {
		os.Exit(child(os.Args[1:]))
	}
	goleak.VerifyTestMain(m)
}

// event is a stand-in with what the journal looks at.
func event(next uint64, prev choir.Digest, text string) Record {
	rest := fmt.Sprintf(`"payload":{"text":%q},"prev_hash":"%s","seq":%d}`, text, prev, next)
	hash := choir.DigestOf([]byte(`{"computer":"c",` + rest))
	return Record{Seq: next, Event: []byte(fmt.Sprintf(`{"computer":"c","hash":"%s",%s`, hash, rest)), Hash: hash}
}

func sealing(texts ...string) Seal {
	return func(next uint64, prev choir.Digest) ([]Record, error) {
		var out []Record
		for _, text := range texts {
			r := event(next, prev, text)
			out, next, prev = append(out, r), next+1, r.Hash
		}
		return out, nil
	}
}

func open(t *testing.T, dir string, cfg Config) *Journal {
	t.Helper()
	j, err := Open(dir, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

func add(t *testing.T, j *Journal, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if err := j.Append(sealing(text)); err != nil {
			t.Fatal(err)
		}
	}
}

func records(t *testing.T, j *Journal, from uint64) []Record {
	t.Helper()
	var out []Record
	prev := choir.Digest("")
	err := j.Read(from, func(r Record) error {
		r.Event = append([]byte(nil), r.Event...)
		if !sound(r) || prev != "" && !follows(r.Event, prev) {
			t.Errorf("event %d is not in the chain", r.Seq)
		}
		prev = r.Hash
		out = append(out, r)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func words(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("word %d %s", i+1, strings.Repeat("x", i%700))
	}
	return out
}

func TestWhatIsAppendedIsReadAfterReopening(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := open(t, dir, Config{SegmentBytes: 4 << 10})
	add(t, j, words(100)...)
	if err := j.Append(sealing("a", "b", "c")); err != nil {
		t.Fatal(err)
	}
	seq, hash := j.Head()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	segments, _ := filepath.Glob(filepath.Join(dir, "*.seg"))
	if len(segments) < 5 {
		t.Errorf("%d segments, wanted the log to go over several", len(segments))
	}
	j = open(t, dir, Config{})
	if s, h := j.Head(); s != 103 || s != seq || h != hash {
		t.Errorf("head is %d %s, was %d %s", s, h, seq, hash)
	}
	if got := records(t, j, 1); len(got) != 103 || !strings.Contains(string(got[102].Event), `"c"`) {
		t.Errorf("read %d events", len(got))
	}
	if got := records(t, j, 50); len(got) != 54 || got[0].Seq != 50 {
		t.Errorf("read %d events from 50", len(got))
	}
	if damage, err := j.Verify(context.Background(), nil); err != nil || len(damage) > 0 {
		t.Errorf("a sound journal is said to be damaged: %v %v", damage, err)
	}
	add(t, j, "after")
}

func TestFilesThatACrashLeftUnfinishedAreRemoved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{".00000000000000000001.seg.new-123", "mark.tmp"} { // the second is of an earlier build
		if err := os.WriteFile(filepath.Join(dir, name), []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	add(t, open(t, dir, Config{}), "a")
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if halfMade(e.Name()) {
			t.Errorf("%s is left", e.Name())
		}
	}
	if err != nil || len(entries) == 0 {
		t.Errorf("%d files: %v", len(entries), err)
	}
}

func TestManyWritersKeepOneChain(t *testing.T) {
	t.Parallel()
	var committed []uint64
	cfg := Config{SegmentBytes: 64 << 10, Committed: func(rs []Record) {
		for _, r := range rs {
			committed = append(committed, r.Seq)
		}
	}}
	j := open(t, t.TempDir(), cfg)
	var wg sync.WaitGroup
	for w := range 32 {
		wg.Go(func() {
			for i := range 50 {
				if err := j.Append(sealing(fmt.Sprint(w, i))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := records(t, j, 1); len(got) != 1600 {
		t.Errorf("%d events, wanted 1600", len(got))
	}
	for i, seq := range committed {
		if seq != uint64(i+1) {
			t.Fatalf("event %d was told %dth", seq, i+1)
		}
	}
}

func TestAnAppendWithoutRecordsWaitsForThoseBefore(t *testing.T) {
	t.Parallel()
	j := open(t, t.TempDir(), Config{})
	add(t, j, "one")
	if err := j.Append(sealing()); err != nil {
		t.Fatal(err)
	}
	if seq, _ := j.Head(); seq != 1 {
		t.Errorf("head is %d", seq)
	}
}

func TestARefusedSealLeavesNothing(t *testing.T) {
	t.Parallel()
	j := open(t, t.TempDir(), Config{})
	no := choir.Invalid("payload", "is wrong")
	if err := j.Append(func(uint64, choir.Digest) ([]Record, error) { return nil, no }); err != no {
		t.Errorf("got %v", err)
	}
	add(t, j, "one")
	if got := records(t, j, 1); len(got) != 1 {
		t.Errorf("%d events", len(got))
	}
}

func TestASecondProcessIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	open(t, dir, Config{})
	var waited time.Duration
	if _, err := Open(dir, Config{pause: func(d time.Duration) { waited += d }}); choir.CodeOf(err) != choir.CodeBusy {
		t.Errorf("got %v, wanted busy", err)
	}
	if waited < time.Second || waited > 10*time.Second {
		t.Errorf("it waited %s for the other to go", waited)
	}
	if _, err := Open(dir, Config{ReadOnly: true}); err != nil {
		t.Errorf("reading beside the writer: %v", err)
	}
}

func TestReadOnlyChangesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := open(t, dir, Config{})
	add(t, j, "one", "two")
	ro := open(t, dir, Config{ReadOnly: true})
	if err := ro.Append(sealing("three")); choir.CodeOf(err) != choir.CodeUnavailable {
		t.Errorf("got %v", err)
	}
	if got := records(t, ro, 1); len(got) != 2 {
		t.Errorf("%d events", len(got))
	}
	add(t, j, "three")
}
