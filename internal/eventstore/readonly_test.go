package eventstore

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"choiros/internal/choir"
)

// contents are all files below a folder with their bytes' digests.
func contents(t *testing.T, dir string) map[string]choir.Digest {
	t.Helper()
	out := map[string]choir.Digest{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		out[path] = choir.DigestOf(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestReadingOnlyChangesNothingOnDisk(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for name, before := range map[string]func(t *testing.T, dir string){
		"a closed log":           func(*testing.T, string) {},
		"a copy that lags":       func(t *testing.T, dir string) { sqlIn(t, dir, "DELETE FROM events WHERE seq > 200") },
		"a copy that is damaged": func(t *testing.T, dir string) { flipIn(t, filepath.Join(dir, sqliteFile), 0) },
		"no copy":                func(t *testing.T, dir string) { os.Remove(filepath.Join(dir, sqliteFile)) },
		"a torn end": func(t *testing.T, dir string) {
			f, err := os.OpenFile(journalFile(dir), os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			f.WriteString("CJR1\x40\x00\x00\x00")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, want, head := closedLog(t)
			before(t, dir)
			was := contents(t, dir)
			s, err := OpenReadOnly(ctx, dir)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if seq, _ := s.Head(); seq != head {
				t.Errorf("head is %d, wanted %d", seq, head)
			}
			if got := dump(t, s); got != want {
				t.Error("it reads something else")
			}
			last, err := s.EventsAfter(ctx, head-1, 1)
			if err != nil || len(last) != 1 {
				t.Fatalf("the last event: %v %v", last, err)
			}
			if e, err := s.Event(ctx, last[0].ID); err != nil || e.Seq != head {
				t.Errorf("the event by its id: %v %v", e.Seq, err)
			}
			_, err = s.Append(ctx, choir.RoleCLI, draft(t, choir.PromptSubmitted{Text: "x"}, newID(), ""))
			wantCode(t, err, choir.CodeUnavailable)
			now := contents(t, dir)
			for path, digest := range was {
				if now[path] != digest {
					t.Errorf("%s was changed", path)
				}
			}
			if len(now) != len(was) {
				t.Errorf("%d files, were %d", len(now), len(was))
			}
		})
	}
	_, err := OpenReadOnly(ctx, t.TempDir())
	wantCode(t, err, choir.CodeNotFound)
}

func TestReadingOnlyBesideAComputerThatRuns(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	dir := t.TempDir()
	s := open(t, dir)
	run := newID()
	add(t, s, run, "", choir.PromptSubmitted{Text: "p"})
	ro, err := OpenReadOnly(ctx, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer ro.Close()
	if got, err := ro.Run(ctx, run); err != nil || got.Prompt != "p" {
		t.Errorf("%+v %v", got, err)
	}
	add(t, s, run, "", choir.SteeringSubmitted{Text: "goes on"})
}
