package supervisor

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"choiros/internal/blob/mem"
	"choiros/internal/choir"
	"choiros/internal/control/modelgw"
	"choiros/internal/eventstore"
)

func TestAPaceIsSlowUntilItIsHurried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pace, began := &newPlaying().pace, time.Now()
		if err := pace.sleepUnlessHurried(t.Context(), time.Minute); err != nil || time.Since(began) != time.Minute {
			t.Errorf("it waited %v: %v", time.Since(began), err)
		}
		began = time.Now()
		time.AfterFunc(time.Second, pace.hurry)
		for range 2 { // the wait that is under way, and each that follows
			if err := pace.sleepUnlessHurried(t.Context(), time.Minute); err != nil || time.Since(began) != time.Second {
				t.Errorf("hurried after a second, it waited %v: %v", time.Since(began), err)
			}
		}
		pace.hurry()
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		other := newPlaying()
		if err := other.pace.sleepUnlessHurried(ctx, time.Minute); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("another run that is stopped: %v", err)
		}
	})
}

// players have recordings of a log of their own, and count how often one is loaded.
type players struct {
	*recordings
	t      *testing.T
	store  *eventstore.Store
	blob   choir.Digest
	loaded int
}

func newPlayers(t *testing.T) *players {
	t.Helper()
	store, err := eventstore.Open(t.Context(), t.TempDir(), eventstore.Config{Computer: idOf("computer"), User: idOf("user"), Now: func() choir.Time { return choir.TimeOf(time.Now()) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	blobs := mem.New(mem.Config{})
	p := &players{t: t, store: store}
	p.recordings = newRecordings(store, blobs, func([]byte, Wait) (map[string]modelgw.Route, error) {
		p.loaded++
		return map[string]modelgw.Route{modelgw.AliasDirector: {Model: strconv.Itoa(p.loaded)}}, nil
	})
	if p.blob, _, err = blobs.Put(t.Context(), strings.NewReader("recording")); err != nil {
		t.Fatal(err)
	}
	return p
}

func idOf(name string) choir.ID { return choir.DeriveID("01890a5d-ac96-774b-bcce-b302099a8057", name) }

func (p *players) append(role choir.Role, run choir.ID, payload choir.Payload) {
	p.t.Helper()
	d, err := choir.NewDraft(choir.DeriveID(run, string(payload.EventType())), payload)
	if err == nil {
		_, err = p.store.Append(p.t.Context(), role, d.ForRun(run, ""))
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *players) submitPrompt(name string, prompt choir.PromptSubmitted) choir.ID {
	p.t.Helper()
	prompt.Text = name
	p.append(choir.RoleCLI, idOf(name), prompt)
	return idOf(name)
}

// call gives the model that a call of a run is led to; empty for the connected one.
func (p *players) call(run choir.ID) string {
	p.t.Helper()
	routes, err := p.routes(p.t.Context(), run)
	if err != nil {
		p.t.Fatal(err)
	}
	return routes[modelgw.AliasDirector].Model
}

// TestARunThatPlaysIsNotForgottenHoweverManyOthersThereAre: its recording has played
// so far, and would begin anew.
func TestARunThatPlaysIsNotForgottenHoweverManyOthersThereAre(t *testing.T) {
	p := newPlayers(t)
	recorded := choir.PromptSubmitted{Recording: string(p.blob), Paced: true}
	long := p.submitPrompt("long", recorded)
	player := p.call(long)
	p.of(t.Context(), long).pace.hurry()
	for i := range 300 {
		name := strconv.Itoa(i)
		if model := p.call(p.submitPrompt("ordinary "+name, choir.PromptSubmitted{})); model != "" {
			t.Fatalf("a run without a recording is led to %q", model)
		}
		if i%10 == 0 { // and some that play, each after the one before
			short := p.submitPrompt("short "+name, recorded)
			p.call(short)
			p.append(choir.RoleControl, short, choir.RunFinished{Outcome: choir.OutcomeDone, Answer: "Done."})
		}
	}
	if now := p.call(long); player == "" || now != player {
		t.Errorf("its calls were led to recording %q and now to %q", player, now)
	}
	select {
	case <-p.of(t.Context(), long).pace.hurried:
	default:
		t.Error("it was hurried and is slow again")
	}
	if n := len(p.all); n > 2 {
		t.Errorf("%d runs are remembered", n)
	}
}
