package main

import (
	"context"
	"encoding/json"
	"flag"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"choiros/internal/choir"
	"choiros/internal/choir/choirtest"
	"choiros/internal/eventstore"
)

func TestMain(m *testing.M) {
	// Each check of a property opens stores on a disk; more with -rapid.checks.
	flag.Parse()
	if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue {
		if err := f.Value.Set("10"); err != nil {
			panic(err)
		}
	}
	goleak.VerifyTestMain(m)
}

const (
	someComputer choir.ID = "019a5f3c-0000-7000-8000-000000000001"
	someUser     choir.ID = "019a5f3c-0000-7000-8000-000000000002"
)

// meant are the types that the checker's answers follow from.
func meant() (out []choir.TypeInfo) {
	for _, info := range choir.Types() {
		if meanings[string(info.Type)] != nil {
			out = append(out, info)
		}
	}
	return out
}

// meeting generates a payload about one of few documents, windows and files, so
// that events meet.
func meeting(t *rapid.T, info choir.TypeInfo, n int) choir.Payload {
	ids := rapid.SampledFrom([]string{taskID("one"), taskID("two"), taskID("three")})
	raw, err := json.Marshal(choirtest.Payload(info).Draw(t, "payload"))
	if err != nil {
		t.Fatal(err)
	}
	var p value
	if err := json.Unmarshal(raw, &p); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"document", "window", "overlay", "of"} {
		if p[name] != nil {
			p[name] = ids.Draw(t, name)
		}
	}
	paths := rapid.SampledFrom([]string{"a", "b", "b/c"})
	for _, f := range list(p, "files") {
		f["path"] = paths.Draw(t, "path")
	}
	if all, ok := p["paths"].([]any); ok {
		for i := range all {
			all[i] = paths.Draw(t, "path")
		}
	}
	switch info.Type {
	case "setting.changed":
		p["key"] = rapid.SampledFrom([]string{"a", "b"}).Draw(t, "key")
	case "document.versioned":
		p["version"] = 1 + n%5
	case "model.returned":
		// The checker's numbers are exact up to 2^53.
		for _, name := range []string{"input_tokens", "output_tokens", "cached_tokens", "duration_ms"} {
			p[name] = rapid.IntRange(0, 1_000_000).Draw(t, name)
		}
	case "timeline.rewound":
		p["to_seq"] = rapid.IntRange(1, n+1).Draw(t, "to")
	}
	if raw, err = json.Marshal(p); err != nil {
		t.Fatal(err)
	}
	made, err := choir.DecodePayload(info.Type, raw)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// lived appends n events to a log in dir/computers and gives the checker of it.
func lived(t *rapid.T, dir string, n int) *checker {
	at := filepath.Join(dir, "computers", string(someComputer))
	clock := choir.Time(1_795_000_000_000)
	s, err := eventstore.Open(context.Background(), at, eventstore.Config{
		Computer: someComputer, User: someUser, Now: func() choir.Time { clock++; return clock },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	types := meant()
	for i := range n {
		info := types[i%len(types)]
		if i >= len(types) {
			info = rapid.SampledFrom(types).Draw(t, "type")
		}
		d, err := choir.NewDraft(choir.ID(taskID(dir+string(rune(i)))), meeting(t, info, i))
		if err != nil {
			t.Fatal(err)
		}
		if len(d.Payload) > choir.InlineLimit {
			continue
		}
		_, err = s.Append(context.Background(), info.Roles[0], d.ForRun(choir.ID(taskID("run")), ""))
		if i >= len(types) && len(info.Once) > 0 && choir.CodeOf(err) == choir.CodeConflict {
			continue // the log has its one event of the type about this subject
		}
		if err != nil {
			t.Fatalf("%s: %v", d.Type, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	c := &checker{data: dir, dir: at}
	var wrong []string
	if c.events, wrong = readJournal(filepath.Join(at, "journal")); len(wrong) > 0 {
		t.Fatal(wrong)
	}
	return c
}

func needSQLite(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("sqlite3"); err != nil {
		t.Skip("the sqlite3 shell is not installed")
	}
}

// TestTheCheckerDerivesWhatTheStoreDoes holds the checker's own reducers against
// the store's, over logs of any events that they know.
func TestTheCheckerDerivesWhatTheStoreDoes(t *testing.T) {
	t.Parallel()
	needSQLite(t)
	rapid.Check(t, func(rt *rapid.T) {
		c := lived(rt, t.TempDir(), 70)
		if c.derived(); len(c.wrong) > 0 {
			rt.Fatalf("%s", strings.Join(c.wrong, "\n"))
		}
	})
}

// TestTheCheckerFindsAChangedRow changes one row of each table that it derives.
func TestTheCheckerFindsAChangedRow(t *testing.T) {
	t.Parallel()
	needSQLite(t)
	var c *checker
	rapid.Check(t, func(rt *rapid.T) {
		if c == nil {
			c = lived(rt, t.TempDir(), 200)
		}
	})
	for _, table := range []string{"files", "documents", "document_versions", "document_heads", "overlays", "windows", "settings", "undos", "usage"} {
		for _, change := range []string{"UPDATE " + table + " SET value = json_set(value, '$.seq', 123456)", "DELETE FROM " + table} {
			copied := *c
			copied.dir = t.TempDir()
			if said, err := exec.Command("cp", filepath.Join(c.dir, "store.sqlite"), copied.dir).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, said)
			}
			if said, err := exec.Command("sqlite3", filepath.Join(copied.dir, "store.sqlite"), change).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, said)
			}
			if copied.derived(); len(copied.wrong) == 0 || !strings.Contains(copied.wrong[0], table) {
				t.Errorf("%s: found %q", change, copied.wrong)
			}
		}
	}
}

// TestTheCheckerFindsANumberThatWasGivenTwice is the mark of an online repair
// that went wrong.
func TestTheCheckerFindsANumberThatWasGivenTwice(t *testing.T) {
	t.Parallel()
	c := &checker{
		events: []event{{Seq: 1, raw: []byte(`{"text":"note a "}`)}},
		acks:   []reply{{Seq: 1, Mark: "note a "}, {Seq: 1, Mark: "note b "}, {Seq: 2, Mark: "note c "}},
	}
	c.acknowledged()
	if got := strings.Join(c.wrong, "\n"); len(c.wrong) != 3 || !strings.Contains(got, "number 1 was acknowledged twice") ||
		!strings.Contains(got, "another has its number") || !strings.Contains(got, "the log ends at 1") {
		t.Errorf("found %q", c.wrong)
	}
}
