package computer

import (
	"os"
	"path/filepath"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/eventstore"
)

// TestAWorkspaceIsPutBackOnlyWhenTheMachineWentDown wakes computers with a workspace that
// is older than the log. The one that was found is kept.
func TestAWorkspaceIsPutBackOnlyWhenTheMachineWentDown(t *testing.T) {
	for _, c := range []struct {
		name       string
		boot, next string
		before     choir.Payload // what the log ends with
		kept       bool          // the workspace is what the log says
	}{
		{"went down", "a", "b", choir.SessionStarted{Version: "1", Isolation: "x", Boot: "a"}, true},
		{"only choir ended", "a", "a", choir.SessionStarted{Version: "1", Isolation: "x", Boot: "a"}, false},
		{"ended in order", "a", "b", choir.SessionEnded{Reason: "x"}, false},
		{"nobody knows", "", "b", choir.SessionStarted{Version: "1", Isolation: "x"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newFakeLab(t, func(cfg *labConfig) { cfg.Boot = c.boot })
			l.write("x", "new")
			l.write("y", "new")
			acknowledged := l.root()
			l.stop()
			appendTo(t, l.cfg, c.before)
			if err := os.WriteFile(filepath.Join(l.workspaceDir(), "x"), nil, 0o644); err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(filepath.Join(l.workspaceDir(), "y")); err != nil {
				t.Fatal(err)
			}
			cfg := l.cfg
			cfg.Boot = c.next
			l = openLab(t, cfg)
			if got := l.root(); (got == acknowledged) != c.kept {
				t.Fatalf("the workspace is %s, acknowledged was %s: %v", got, acknowledged, l.types())
			}
			back := l.all("timeline.rewound")
			if !c.kept {
				if len(back) != 0 {
					t.Errorf("it went back by itself: %+v", back)
				}
				return
			}
			if len(back) != 1 || back[0].Source != choir.SourceSystem {
				t.Fatalf("%+v", back)
			}
			// What was found can still be had.
			if _, err := l.Rewinder().Rewind(l.within(), choir.RoleCLI, back[0].Seq-1, false); err != nil {
				t.Fatal(err)
			}
			x, err := os.ReadFile(filepath.Join(l.workspaceDir(), "x"))
			if _, gone := os.Stat(filepath.Join(l.workspaceDir(), "y")); err != nil || len(x) > 0 || gone == nil {
				t.Errorf("found was %q, %v; y: %v", x, err, gone)
			}
		})
	}
}

// appendTo adds an event to the log of a computer that does not run.
func appendTo(t *testing.T, cfg labConfig, p choir.Payload) {
	t.Helper()
	s, err := eventstore.Open(t.Context(), filepath.Join(cfg.Data, string(cfg.Computer)), eventstore.Config{
		Computer: cfg.Computer, User: cfg.User, Now: func() choir.Time { return 1 },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	d, err := choir.NewDraft(newTestID(t), p)
	if err == nil {
		_, err = s.Append(t.Context(), choir.RoleControl, d)
	}
	if err != nil {
		t.Fatal(err)
	}
}
