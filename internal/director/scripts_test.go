package director_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"choiros/internal/choir"
	"choiros/internal/director/runscript"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func scripts(t *testing.T) []runscript.Script {
	t.Helper()
	all, err := runscript.Load("testdata/runs")
	if err != nil || len(all) < 8 {
		t.Fatalf("%d scripts, %v", len(all), err)
	}
	return all
}

func TestScriptedRuns(t *testing.T) {
	t.Parallel()
	for _, s := range scripts(t) {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			p := &play{t: t, script: s}
			p.check(p.run())
		})
	}
}

// everyStep makes TestTheDirectorIsKilledAfterEveryEvent take each of them.
const everyStep = "CHOIR_TEST_EVERY_STEP"

// sampled is how many events of a script there are to each that a test takes.
func sampled() int {
	switch {
	case os.Getenv(everyStep) != "":
		return 1
	case testing.Short():
		return 5
	}
	return 3
}

// TestTheDirectorIsKilledAfterEveryEvent plays every script once for each of
// its events, kills the Director right after it, and expects the same effects.
// Without everyStep it takes one event in three, in short one in five, of each
// script from another on.
func TestTheDirectorIsKilledAfterEveryEvent(t *testing.T) {
	t.Parallel()
	each := sampled()
	for n, s := range scripts(t) {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			first := &play{t: t, script: s}
			want := first.run()
			for i, at := range want {
				if (i+n)%each != 0 {
					continue
				}
				p := &play{t: t, script: s, killAt: at.Seq}
				got := p.run()
				p.check(got)
				if diff := cmp.Diff(effects(t, want), effects(t, got)); diff != "" {
					t.Fatalf("killed after event %d (%s): (-never +killed)\n%s", at.Seq, at.Type, diff)
				}
			}
		})
	}
}

// check holds the events of a run against what its script expects.
func (p *play) check(events []choir.Event) {
	t, s := p.t, p.script
	t.Helper()
	var told []choir.Type
	for _, e := range events {
		if runscript.Told(e.Type) {
			told = append(told, e.Type)
		}
	}
	if diff := cmp.Diff(s.Expect.Events, told); diff != "" {
		t.Errorf("%s: events (-want +got)\n%s", s.Name, diff)
	}
	var done choir.RunFinished
	last(t, events, &done)
	if done.Outcome != s.Expect.Outcome || done.Code != s.Expect.Code || !strings.Contains(done.Answer, s.Expect.Answer) {
		t.Errorf("%s: finished %+v, want %+v", s.Name, done, s.Expect)
	}
	if !p.ground.verified(choir.SignedText("run.finished", runID, done.Answer), done.Signature) {
		t.Errorf("%s: the answer is not signed by the Director", s.Name)
	}
	checkDocument(t, s, events)
}

// checkDocument holds the last version against the script and the versions
// against each other.
func checkDocument(t *testing.T, s runscript.Script, events []choir.Event) {
	t.Helper()
	version, content := 0, ""
	for _, e := range events {
		if e.Type == "document.versioned" {
			var v choir.DocumentVersioned
			decode(t, e, &v)
			if version++; v.Version != version || strings.TrimSpace(v.Content) == "" {
				t.Errorf("%s: version %d comes where %d should, with %d bytes", s.Name, v.Version, version, len(v.Content))
			}
			content = v.Content
		}
	}
	if (version > 0) != (len(s.Expect.Document) > 0) {
		t.Errorf("%s: the document has %d versions", s.Name, version)
	}
	for _, want := range s.Expect.Document {
		if !strings.Contains(content, want) {
			t.Errorf("%s: the document does not say %q:\n%s", s.Name, want, content)
		}
	}
}

func decode(t *testing.T, e choir.Event, into any) {
	t.Helper()
	if err := json.Unmarshal(e.Payload, into); err != nil {
		t.Fatalf("%s: %v", e.Type, err)
	}
}

// last decodes the newest event of the payload's type.
func last(t *testing.T, events []choir.Event, into choir.Payload) {
	t.Helper()
	for _, e := range slices.Backward(events) {
		if e.Type == into.EventType() {
			decode(t, e, into)
			return
		}
	}
	t.Fatalf("no %s in %v", into.EventType(), types(events))
}

// effect is an event without what may differ between two lives: its place and
// its time, and the signature, because the key is new.
type effect struct {
	ID      choir.ID
	Type    choir.Type
	Task    choir.ID
	Cause   choir.ID
	Payload string
}

func effects(t *testing.T, events []choir.Event) []effect {
	t.Helper()
	var out []effect
	for _, e := range events {
		if strings.HasPrefix(string(e.Type), "model.") {
			continue
		}
		var fields map[string]json.RawMessage
		decode(t, e, &fields)
		delete(fields, "signature")
		raw, err := choir.Canonical(fields)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, effect{e.ID, e.Type, e.Task, e.Cause, string(raw)})
	}
	slices.SortFunc(out, func(a, b effect) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return out
}
