package hibernation

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"choiros/internal/choir"
)

// inFullLab runs f with a pool of which at most two computers may be open, and where the first
// two are. The first was used a second earlier than the second.
func inFullLab(t *testing.T, f func(l *lab)) {
	t.Helper()
	inLab(t, func(l *lab) {
		l.cfg.Most = 2
		l.cfg.After = 24 * time.Hour
		l.Register(other)
		l.Register(third)
		for _, id := range []choir.ID{one, other} {
			_, release, err := l.Use(l.t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			release()
			time.Sleep(time.Second)
		}
		f(l)
	})
}

const third = choir.ID("third")

// refused fails the test unless a use of the third computer is refused for want of room, and waits
// until nothing changes any more.
func (l *lab) refused(when string) {
	l.t.Helper()
	_, _, err := l.Use(l.t.Context(), third)
	if reason, _ := choir.ReasonOf(err); reason != choir.ReasonTooManyAwake || choir.CodeOf(err) != choir.CodeBusy {
		l.t.Errorf("%s: %v", when, err)
	}
	synctest.Wait()
}

// wantOpen fails the test unless these computers are open.
func (l *lab) wantOpen(when string, ids ...choir.ID) {
	l.t.Helper()
	var open []choir.ID
	for _, id := range []choir.ID{one, other, third} {
		if _, is, _ := l.Find(id); is {
			open = append(open, id)
		}
	}
	if fmt.Sprint(open) != fmt.Sprint(ids) {
		l.t.Errorf("%s: %v are open, not %v", when, open, ids)
	}
}

func TestNoMoreComputersAreOpenThanMayBe(t *testing.T) {
	inFullLab(t, func(l *lab) {
		l.refused("both were used a moment ago")
		l.wantOpen("both were used a moment ago", one, other)
		if _, release, err := l.Use(l.t.Context(), one); err != nil {
			t.Errorf("an open computer: %v", err)
		} else {
			release()
		}
		time.Sleep(2 * restless)
		l.refused("full")
		l.wantOpen("room was made of the computer that was used first", one)
		_, release, err := l.Use(l.t.Context(), third)
		if err != nil {
			t.Fatal(err)
		}
		release()
		l.wantOpen("with room", one, third)
	})
}

func TestOnlyAnIdleComputerMakesRoom(t *testing.T) {
	inFullLab(t, func(l *lab) {
		_, release, err := l.Use(l.t.Context(), other)
		if err != nil {
			t.Fatal(err)
		}
		l.busy = func(id choir.ID) string { return map[choir.ID]string{one: "a run is open"}[id] }
		time.Sleep(2 * restless)
		l.refused("one is busy, the other in use")
		l.wantOpen("one is busy, the other in use", one, other)
		l.busy = nil
		time.Sleep(2 * restless)
		release()
		l.refused("the first is idle")
		l.wantOpen("the first is idle", other)
	})
}

func TestComputersThatNoTimeClosesMakeRoom(t *testing.T) {
	inFullLab(t, func(l *lab) {
		l.cfg.After = 0
		l.pass(48 * time.Hour)
		l.wantOpen("nobody wants another one", one, other)
		l.busy = func(id choir.ID) string { return map[choir.ID]string{one: "a run is open"}[id] }
		l.refused("the first is busy")
		l.wantOpen("the first is busy", one)
		_, release, err := l.Use(l.t.Context(), third)
		if err != nil {
			t.Fatal(err)
		}
		release()
		l.wantOpen("with room", one, third)
	})
}

// Without sweeps, as with After = 0, only a refused use sees that a computer is busy.
func TestABusyComputerCountsAsUsedWhenRoomIsMade(t *testing.T) {
	inFullLab(t, func(l *lab) {
		l.cfg.After = 0
		l.busy = func(choir.ID) string { return "a run is open" }
		time.Sleep(2 * restless)
		l.refused("both are busy")
		l.busy = nil
		time.Sleep(restless / 2)
		l.refused("both were busy half a minute ago")
		l.wantOpen("both were busy half a minute ago", one, other)
		time.Sleep(restless)
		l.refused("both are idle")
		l.wantOpen("both are idle", other)
	})
}

func TestRoomIsKeptForWhatIsBeingMade(t *testing.T) {
	inFullLab(t, func(l *lab) {
		l.cfg.Most = 3
		const fourth = choir.ID("fourth")
		end, err := l.KeepRoom("new")
		if err != nil {
			t.Fatal(err)
		}
		l.refused("the last room is kept")
		if _, err := l.KeepRoom(fourth); choir.CodeOf(err) != choir.CodeBusy {
			t.Errorf("kept twice: %v", err)
		}
		l.Register("new")
		_, release, err := l.Use(l.t.Context(), "new")
		if err != nil {
			t.Fatalf("the computer for which room is kept: %v", err)
		}
		l.refused("it is open")
		end()
		end()
		release()
		l.refused("its room is not kept any more, and it is open")
		l.cfg.Most = 4 // one, other and new are open, and counted once each
		if end, err = l.KeepRoom(fourth); err != nil {
			t.Fatal(err)
		}
		l.refused("the fourth place is kept")
		end() // it could not be made
		if _, release, err = l.Use(l.t.Context(), third); err != nil {
			t.Fatalf("what was kept for nothing: %v", err)
		}
		release()
	})
}

func TestWorkIsGoneOnWithWhateverIsOpen(t *testing.T) {
	inFullLab(t, func(l *lab) {
		if _, err := l.KeepRoom("new"); choir.CodeOf(err) != choir.CodeBusy {
			t.Errorf("there is room: %v", err)
		}
		_, release, err := l.UseAnyway(l.t.Context(), third)
		if err != nil {
			t.Fatal(err)
		}
		release()
		l.wantOpen("beyond the limit", one, other, third)
		l.cfg.Most = 0
		end, err := l.KeepRoom("new")
		if err != nil {
			t.Fatalf("without a limit: %v", err)
		}
		end()
	})
}
