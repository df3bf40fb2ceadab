package eventstore

import (
	"bytes"
	"context"
	"testing"

	"choiros/internal/choir"
)

// newerLog makes a log of the drafts in a new folder, unchecked, as a choir would
// that knows more fields and types than this one.
func newerLog(t *testing.T, drafts []choir.Draft) string {
	t.Helper()
	dir := t.TempDir()
	prev := choir.ZeroHash
	_, err := Restore(dir, func(add func(uint64, []byte) error) error {
		for i, d := range drafts {
			e := choir.Event{
				Seq: uint64(i + 1), ID: d.ID, Time: testTime, Computer: testComputer, User: testUser,
				Source: choir.SourceUser, Type: d.Type, Run: d.Run, Payload: d.Payload,
			}
			raw, err := choir.SealEvent(&e, prev)
			if err != nil {
				return err
			}
			if err := add(e.Seq, raw); err != nil {
				return err
			}
			prev = e.Hash
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// answers are the projections of a store, without the events.
func answers(t *testing.T, s *Store) string {
	t.Helper()
	var all bytes.Buffer
	must[choir.Digest](t)(s.Dump(context.Background(), &all))
	var out bytes.Buffer
	for _, line := range bytes.SplitAfter(all.Bytes(), []byte("\n")) {
		if !bytes.Contains(line, []byte("prev_hash")) {
			out.Write(line)
		}
	}
	return out.String()
}

// TestALogOfANewerChoirOpens: an optional field more in payloads, also deep in
// one, and an event of a type that this choir does not know, change no answer. A
// draft with such a field is refused still.
func TestALogOfANewerChoirOpens(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	run, window := newID(), newID()
	prompt := draft(t, choir.PromptSubmitted{Text: "hello"}, run, "")
	opened := draft(t, choir.WindowOpened{Window: window, App: "files", Bounds: choir.Rect{Width: 4, Height: 3}}, "", "")
	moved := draft(t, choir.WindowMoved{Window: window, Bounds: choir.Rect{X: 7, Width: 4, Height: 3}}, "", "")
	unknown := choir.Draft{ID: newID(), Type: "window.dreamed", Payload: []byte(`{"of":["sheep",{"electric":true}]}`)}
	plain := append([]choir.Draft{prompt, opened}, unknown, moved)
	want := answers(t, open(t, newerLog(t, plain)))

	with := func(d choir.Draft, old, new string) choir.Draft {
		d.Payload = bytes.Replace(d.Payload, []byte(old), []byte(new), 1)
		return d
	}
	newer := []choir.Draft{
		with(prompt, `{`, `{"aside":{"deep":[1,{"text":"x"}]},`), with(opened, `"bounds":{`, `"bounds":{"depth":3,`),
		unknown, with(moved, `{`, `{"animated":true,`),
	}
	dir := newerLog(t, newer)
	s := open(t, dir)
	if s.ReadOnly() != "" {
		t.Fatalf("read-only: %s", s.ReadOnly())
	}
	if got := answers(t, s); got != want {
		t.Errorf("it answers\n%s\nnot\n%s", got, want)
	}
	if report, err := s.Verify(ctx, nil); err != nil || len(report.Repaired)+len(report.Holes) > 0 {
		t.Errorf("%+v %v", report, err)
	}
	if err := s.Rebuild(ctx); err != nil || answers(t, s) != want {
		t.Errorf("after a rebuild it differs: %v", err)
	}
	if windows, err := s.Windows(ctx, 0); err != nil || len(windows) != 1 || windows[0].Bounds.X != 7 {
		t.Errorf("%+v %v", windows, err)
	}
	if r, _, err := s.RunAsOf(ctx, run, 4); err != nil || r.Prompt != "hello" {
		t.Errorf("%+v %v", r, err)
	}
	_, err := s.Append(ctx, choir.RoleShell, with(moved, `{`, `{"animated":true,`))
	wantCode(t, err, choir.CodeInvalid)
	add(t, s, "", "", choir.WindowClosed{Window: window})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	ro := must[*Store](t)(OpenReadOnly(ctx, dir))
	defer ro.Close()
	if windows, err := ro.Windows(ctx, 4); err != nil || len(windows) != 1 {
		t.Errorf("reading only: %+v %v", windows, err)
	}
}

// TestACopyOfAnotherChoirIsMadeAnew: one with a schema that is not known, and one
// whose answers follow by other reducers. Nothing was damaged, so nothing is told.
func TestACopyOfAnotherChoirIsMadeAnew(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"a newer schema": "PRAGMA user_version = 999; DROP TABLE windows",
		"other reducers": "PRAGMA application_id = 77; DELETE FROM runs",
		"before stamps":  "PRAGMA application_id = 0; PRAGMA user_version = 6; DROP TABLE firsts; DROP TABLE undos",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			dir, want, _ := closedLog(t)
			sqlIn(t, dir, script)
			ro := must[*Store](t)(OpenReadOnly(ctx, dir))
			if got := dump(t, ro); got != want || len(ro.Damaged()) > 0 {
				t.Errorf("reading only it differs, damaged %+v", ro.Damaged())
			}
			if err := ro.Close(); err != nil {
				t.Error(err)
			}
			for range 2 {
				s := open(t, dir)
				if got := dump(t, s); got != want || len(s.Repairs()) > 0 {
					t.Errorf("it differs, repaired %+v", s.Repairs())
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
