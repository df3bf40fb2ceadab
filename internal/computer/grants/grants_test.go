package grants

import (
	"crypto/rand"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
	"choiros/internal/computer/appender"
	"choiros/internal/eventstore"
)

func newTestID() (choir.ID, error) { return choir.NewID(choir.TimeOf(time.Now()), rand.Reader) }

// lab is the grants of a computer with a log on the disk, whose clock the test sets.
type lab struct {
	*Grants
	t      *testing.T
	log    *eventstore.Store
	events *appender.Appender

	mu    sync.Mutex // guards the rest
	clock time.Time
	ended []choir.ID // grants that were cut
}

func newLab(t *testing.T, dir string) *lab {
	t.Helper()
	l := &lab{t: t, clock: time.Now()}
	computer, user := l.id(), l.id()
	log, err := eventstore.Open(t.Context(), dir, eventstore.Config{Computer: computer, User: user, Now: func() choir.Time { return choir.TimeOf(time.Now()) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() }) // on a full disk it says so
	l.log, l.events = log, appender.New(log, computer, newTestID, slog.New(slog.DiscardHandler))
	l.Grants = New(log, l.events, Config{
		Check: func(string, int) error { return nil },
		Ended: func(grant choir.ID) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.ended = append(l.ended, grant)
		},
		Now: func() time.Time {
			l.mu.Lock()
			defer l.mu.Unlock()
			return l.clock
		},
	})
	return l
}

func (l *lab) id() choir.ID {
	l.t.Helper()
	id, err := newTestID()
	if err != nil {
		l.t.Fatal(err)
	}
	return id
}

// ask has a task ask for a host.
func (l *lab) ask(host string) {
	l.t.Helper()
	d, err := l.events.Draft(choir.EgressRefused{Host: host, Port: 443, Policy: "allowlist", Why: choir.EgressPolicy, Asked: true})
	if err == nil {
		_, err = l.events.AppendAs(l.t.Context(), choir.RoleControl, d.ForRun(l.id(), l.id()))
	}
	if err != nil {
		l.t.Fatal(err)
	}
}

// holds returns how many grants hold for a program of no task.
func (l *lab) holds() int {
	l.t.Helper()
	held, err := l.Holding(l.t.Context(), "", "")
	if err != nil {
		l.t.Fatal(err)
	}
	return len(held)
}

// pass sets the clock forwards or back.
func (l *lab) pass(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clock = l.clock.Add(d)
}

// TestTwoOwnersAtOnceKnowOfEachOther has one owner grant what another one denies, at once. The no
// that comes second is told that nobody asks any more, and never that it was given beside a grant.
func TestTwoOwnersAtOnceKnowOfEachOther(t *testing.T) {
	l := newLab(t, t.TempDir())
	for range 30 {
		l.ask("host.test")
		var both sync.WaitGroup
		var granted, denied error
		both.Go(func() {
			_, granted = l.Grant(t.Context(), choir.RoleShell, Wish{Host: "host.test", Port: 443, Scope: choir.EgressAlways})
		})
		both.Go(func() { denied = l.Deny(t.Context(), choir.RoleCLI, "host.test", 443) })
		both.Wait()
		var order []choir.Type
		for e, err := range l.log.Events(t.Context(), 1, 0) {
			if err != nil {
				t.Fatal(err)
			}
			order = append(order, e.Type)
		}
		last := order[len(order)-1]
		if granted != nil || denied == nil && last == choir.TypeEgressDenied || l.holds() != 1 {
			t.Fatalf("granted %v, denied %v, %d grants hold, after %v", granted, denied, l.holds(), order[max(0, len(order)-3):])
		}
		if n, err := l.Revoke(t.Context(), choir.RoleShell, "host.test", 443, ""); err != nil || n != 1 || l.holds() != 0 {
			t.Fatalf("revoked %d: %v", n, err)
		}
	}
}

// TestARevocationHoldsOnAFullDisk revokes while the log takes no event, and again with room.
func TestARevocationHoldsOnAFullDisk(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("mounting a small file system needs root")
	}
	disk := t.TempDir()
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=4m"); err != nil {
		t.Skipf("mounting a small file system is not possible here: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(disk, unix.MNT_DETACH) })
	l := newLab(t, filepath.Join(disk, "computer"))
	g, err := l.Grant(t.Context(), choir.RoleShell, Wish{Host: "host.test", Port: 443, Scope: choir.EgressAlways})
	if err != nil || l.holds() != 1 {
		t.Fatal(err)
	}
	for range 2000 {
		if _, err = l.events.AppendToRun(t.Context(), choir.RoleCLI, l.id(), l.id(), "", choir.PromptSubmitted{Text: strings.Repeat("x", 15_000)}); err != nil {
			break
		}
	}
	if choir.CodeOf(err) != choir.CodeNoSpace {
		t.Fatalf("the disk is not full: %v", err)
	}
	if _, err := l.Revoke(t.Context(), choir.RoleShell, "host.test", 443, ""); choir.CodeOf(err) != choir.CodeNoSpace {
		t.Errorf("the revocation says %v", err)
	}
	if held, _ := l.Holding(t.Context(), "", ""); len(l.ended) != 1 || l.ended[0] != g.Grant || len(held) != 0 {
		t.Errorf("cut %v, and %d grants hold", l.ended, len(held))
	}
	if err := unix.Mount("tmpfs", disk, "tmpfs", unix.MS_REMOUNT, "size=64m"); err != nil {
		t.Fatal(err)
	}
	if n, err := l.Revoke(t.Context(), choir.RoleShell, "host.test", 443, ""); err != nil || n != 1 {
		t.Errorf("with room: %d, %v", n, err)
	}
	if state, err := l.log.Egress(t.Context()); err != nil || len(state.Grants) != 0 {
		t.Errorf("%+v, %v", state.Grants, err)
	}
}

// TestAClockThatIsSetBackRevivesNoGrant lets a grant expire, and sets the clock back to before that.
func TestAClockThatIsSetBackRevivesNoGrant(t *testing.T) {
	l := newLab(t, t.TempDir())
	if _, err := l.Grant(t.Context(), choir.RoleShell, Wish{Host: "host.test", Port: 443, Scope: choir.EgressAlways, Lasts: time.Minute}); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		by    time.Duration
		holds int
	}{{59 * time.Second, 1}, {2 * time.Second, 0}, {-time.Hour, 0}} {
		l.pass(step.by)
		if n := l.holds(); n != step.holds {
			t.Errorf("after %s: %d grants hold", step.by, n)
		}
		if listed, err := l.List(t.Context()); err != nil || len(listed.Grants) != step.holds {
			t.Errorf("after %s: listed %+v, %v", step.by, listed.Grants, err)
		}
	}
}
