package main

import (
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func read(t *testing.T, r reader, text string) part {
	t.Helper()
	p, err := r(strings.NewReader(text), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func same(t *testing.T, got, want part) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(part{}), cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
}

func TestGoCountsLeavesAndKeepsReasons(t *testing.T) {
	got := read(t, readGo, `{"Action":"start","Package":"p"}
{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"run","Package":"p","Test":"TestA/one"}
{"Action":"output","Package":"p","Test":"TestA/one","Output":"=== RUN   TestA/one\n"}
{"Action":"output","Package":"p","Test":"TestA/one","Output":"    a_test.go:7: got 1: want 2\n"}
{"Action":"fail","Package":"p","Test":"TestA/one"}
{"Action":"run","Package":"p","Test":"TestA/two"}
{"Action":"pass","Package":"p","Test":"TestA/two"}
{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"run","Package":"p","Test":"TestB"}
{"Action":"output","Package":"p","Test":"TestB","Output":"    b_test.go:9: no KVM: this machine has none\n"}
{"Action":"output","Package":"p","Test":"TestB","Output":"--- SKIP: TestB (0.00s)\n"}
{"Action":"skip","Package":"p","Test":"TestB"}
{"Action":"fail","Package":"p","Elapsed":12.5}
{"Action":"skip","Package":"without tests"}
`)
	same(t, got, part{Passed: 1, Timed: []timed{{"p", 12.5}},
		Failures: []failure{{"p TestA/one", "    a_test.go:7: got 1: want 2"}},
		Skips:    []skip{{"p TestB", "no KVM: this machine has none"}}})
}

func TestGoPackagesThatFailWithoutATest(t *testing.T) {
	got := read(t, readGo, `{"ImportPath":"p","Action":"build-output","Output":"p/a.go:1: undefined: x\n"}
{"ImportPath":"p","Action":"build-fail"}
{"Action":"fail","Package":"p","FailedBuild":"p"}
{"Action":"run","Package":"q","Test":"TestA"}
{"Action":"pass","Package":"q","Test":"TestA"}
{"Action":"output","Package":"q","Output":"goleak: found unexpected goroutines\n"}
{"Action":"fail","Package":"q"}
`)
	same(t, got, part{Passed: 1, Failures: []failure{{"p", "p/a.go:1: undefined: x\n"}, {"q", "goleak: found unexpected goroutines\n"}}})
}

func TestAProcessThatDiesTellsWhatItsTestsSaid(t *testing.T) {
	got := read(t, readGo, `{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"fatal error: all goroutines are asleep\n"}
{"Action":"run","Package":"p","Test":"TestB"}
{"Action":"output","Package":"p","Test":"TestB","Output":"=== RUN   TestB\n"}
{"Action":"output","Package":"p","Output":"FAIL\tp\t9.480s\n"}
{"Action":"fail","Package":"p"}
`)
	same(t, got, part{Failures: []failure{{"p", "TestA had not ended:\nfatal error: all goroutines are asleep\nFAIL\tp\t9.480s\n"}}})
}

func TestAParentThatFailsAloneCounts(t *testing.T) {
	got := read(t, readGo, `{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"run","Package":"p","Test":"TestA/one"}
{"Action":"pass","Package":"p","Test":"TestA/one"}
{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:3: after\n"}
{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"fail","Package":"p"}
`)
	same(t, got, part{Passed: 1, Failures: []failure{{"p TestA", "    a_test.go:3: after"}}})
}

func TestTAPCountsLeaves(t *testing.T) {
	got := read(t, readTAP, `TAP version 13
# Subtest: window
    # Subtest: opens
    ok 1 - opens
      ---
      duration_ms: 1500.5
      ...
    # Subtest: closes
    not ok 2 - closes
      ---
      error: 'still there'
      ...
    1..2
not ok 1 - window
  ---
  error: '1 subtest failed'
  ...
ok 2 - drag # SKIP no pointer in this browser
ok 3 - alone
1..3
`)
	same(t, got, part{Passed: 2, Timed: []timed{{"opens", 1.5005}}, Skips: []skip{{"drag", "no pointer in this browser"}},
		Failures: []failure{{"closes", "      ---\n      error: 'still there'\n      ...\n    1..2\n"}}})
}

func TestTheSlowestAreNamed(t *testing.T) {
	var out strings.Builder
	printSlowest(&out, []timed{{"quick", 9.9}, {"slow", 10}, {"slowest", 70.4}})
	if want := "\nSLOW 70 s slowest\nSLOW 10 s slow\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

func TestVitestReport(t *testing.T) {
	got := read(t, readVitest, `{"testResults":[
		{"name":"a.test.ts","status":"failed","assertionResults":[
			{"fullName":"a one","status":"passed"},
			{"fullName":"a two","status":"failed","failureMessages":["got 1","want 2"]},
			{"fullName":"a three","status":"skipped"}]},
		{"name":"b.test.ts","status":"failed","message":"syntax error","assertionResults":[]}]}`)
	same(t, got, part{Passed: 1, Failures: []failure{{"a two", "got 1\nwant 2"}, {"b.test.ts", "syntax error"}},
		Skips: []skip{{"a three", "marked skipped in a.test.ts"}}})
}

func TestPartsAddUpToTheFinalLine(t *testing.T) {
	dir := t.TempDir()
	var out strings.Builder
	for name, command := range map[string]string{"good": "true", "bad": "echo broken; echo worse >&2; exit 3"} {
		if _, err := run([]string{"check", dir, name, "--", "sh", "-c", command}, &out); err != nil {
			t.Fatal(err)
		}
	}
	tap := "printf '1..1\\nok 1 - x # SKIP no chromium\\n'"
	if _, err := run([]string{"tap", dir, "the browser", "--", "sh", "-c", tap}, &out); err != nil {
		t.Fatal(err)
	}
	out.Reset()
	ok, err := run([]string{"sum", dir}, &out)
	if err != nil || ok {
		t.Errorf("%t, %v", ok, err)
	}
	want := "\nSKIPPED x: no chromium\n\nFAILED bad\n    broken\n    \n    worse\n\n1 passed, 1 failed, 1 skipped\n"
	if out.String() != want {
		t.Errorf("printed %q, want %q", out.String(), want)
	}
}

func TestAFailureIsToldBrieflyWhereItHappened(t *testing.T) {
	for output, want := range map[string]string{
		"=== RUN TestA\n    a_test.go:3: got 1,\n        want 2\n--- FAIL": "got 1, want 2",
		"  ---\n  error: 'still there'\n  code: x\n":                       "'still there' code: x",
		"\nundefined: x\n":         "undefined: x",
		"pass  a\nFAIL  b\n  no\n": "FAIL b no",
		strings.Repeat("é", 200):   strings.Repeat("é", 150),
	} {
		if got := (failure{"a", output}).brief(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	var out strings.Builder
	if _, err := runPart(t.Context(), readTAP, "browser", []string{"sh", "-c", "printf 'not ok 1 - opens\\n  error: closed\\n'"}, &out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "  FAIL opens: closed\n") {
		t.Errorf("printed %q", out.String())
	}
}

func TestAPartThatHangsIsEndedWithAllThatItStarted(t *testing.T) {
	ctx, cancel := context.WithTimeoutCause(t.Context(), 200*time.Millisecond, hung(time.Minute))
	defer cancel()
	// What the shell started keeps the output open.
	p, err := runPart(ctx, readTAP, "slow", []string{"sh", "-c", "sleep 600 & echo ok 1 - quick; wait"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if p.Passed != 1 || len(p.Failures) != 1 || p.Failures[0].Output != "did not end within 1m0s, and was ended" {
		t.Errorf("%d passed, failures %v", p.Passed, p.Failures)
	}
}

func TestARunnerThatDiesOrRunsNothingFails(t *testing.T) {
	for name, argv := range map[string][]string{
		"dies":    {"go", "sh", "-c", "echo '{}'; exit 2"},
		"nothing": {"tap", "true"},
		"missing": {"check", filepath.Join(t.TempDir(), "absent")},
		"garbage": {"vitest", "echo", "no JSON"},
	} {
		dir := t.TempDir()
		if _, err := run(append([]string{argv[0], dir, name, "--"}, argv[1:]...), io.Discard); err != nil {
			t.Fatal(err)
		}
		if ok, err := run([]string{"sum", dir}, io.Discard); ok || err != nil {
			t.Errorf("%s: %t, %v", name, ok, err)
		}
	}
	if ok, _ := run([]string{"sum", t.TempDir()}, io.Discard); ok {
		t.Error("nothing at all passed")
	}
}
