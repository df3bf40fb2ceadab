package supervisor_test

import (
	"archive/tar"
	"bytes"
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/computer"
	"choiros/internal/computer/workspace"
	"choiros/internal/control/api"
	"choiros/internal/control/controltest"
	"choiros/internal/control/modelgw"
	"choiros/internal/control/supervisor"
	"choiros/internal/model"
)

// held is a model that answers nobody until its call is stopped.
type held struct{}

func (held) Name() string { return "held" }

func (held) Stream(ctx context.Context, _ model.Request, _ func(model.Delta)) (model.Response, error) {
	<-ctx.Done()
	return model.Response{}, choir.E("held", choir.CodeCancelled, "the model call was stopped")
}

// demoPlane is a control plane whose demo plays until it is stopped.
func demoPlane(t *testing.T, change ...func(*supervisor.Config)) *controltest.Plane {
	t.Helper()
	cfg := controltest.Config(t, newData(t))
	var project bytes.Buffer
	w := tar.NewWriter(&project)
	if err := w.WriteHeader(&tar.Header{Name: "README.md", Mode: 0o644}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	cfg.Demo = supervisor.DemoConfig{
		Name: "tally", Prompt: "play", At: time.Unix(1e9, 0), Recording: []byte("recording"), Repo: project.Bytes(),
		Play: func([]byte, supervisor.Wait) (map[string]modelgw.Route, error) {
			return map[string]modelgw.Route{modelgw.AliasDirector: {Provider: held{}, Model: "m", Free: true}}, nil
		},
	}
	for _, c := range change {
		c(&cfg)
	}
	p := controltest.StartWith(t, cfg)
	p.Settled()
	return p
}

// head is the newest event of a computer, and said are the types after another.
func head(c *computer.Computer) uint64 {
	seq, _ := c.Store().Head()
	return seq
}

func said(t *testing.T, c *computer.Computer, after uint64) (types []choir.Type) {
	t.Helper()
	events, err := c.Store().EventsAfter(t.Context(), after, choir.MaxEventsAfter)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		types = append(types, e.Type)
	}
	return types
}

func write(t *testing.T, c *computer.Computer, path, content string) {
	t.Helper()
	if _, err := c.Workspace().WriteFile(t.Context(), choir.RoleShell, path, strings.NewReader(content), workspace.Expect{}); err != nil {
		t.Fatal(err)
	}
}

// TestTheDemoReplacesNothingOfTheOwners: a folder of its name that the owner made, or
// brought, stands in its way.
func TestTheDemoReplacesNothingOfTheOwners(t *testing.T) {
	p := demoPlane(t)
	c := p.Computers()[0]
	start := func(role choir.Role) error {
		_, err := p.StartDemo(t.Context(), c, role, api.DemoParts{})
		return err
	}
	write(t, c, "workspace/tally/thesis.md", "mine")
	before := head(c)
	for _, role := range []choir.Role{choir.RoleDesktop, choir.RoleShell, choir.RoleCLI} {
		if err := start(role); choir.CodeOf(err) != choir.CodeConflict || !strings.Contains(err.Error(), "there is a workspace/tally already, which would be replaced") || !strings.Contains(err.Error(), "rename or move workspace/tally") {
			t.Errorf("asked by the %s: %v", role, err)
		}
	}
	if types := said(t, c, before); len(types) != 0 {
		t.Errorf("refusals left %v", types)
	}
	if _, err := c.Workspace().Move(t.Context(), choir.RoleShell, []workspace.Transfer{{From: "workspace/tally", To: "workspace/thesis"}}); err != nil {
		t.Fatal(err)
	}
	before = head(c)
	if err := start(choir.RoleDesktop); err != nil {
		t.Fatal(err)
	}
	events, err := c.Store().EventsAfter(t.Context(), before, choir.MaxEventsAfter)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(events, func(e choir.Event) bool { return e.Type == "repo.added" })
	if i < 0 || events[i].Source != choir.SourceDesktop {
		t.Errorf("%v: the project is not brought as the desktop's", said(t, c, before))
	}
}

// TestOneDemoPlaysAtATime asks for thirty at once, and for one more while the first
// plays; once it is stopped the next may begin.
func TestOneDemoPlaysAtATime(t *testing.T) {
	p := demoPlane(t)
	c := p.Computers()[0]
	answers := map[int]int{}
	for range 30 {
		res, body := p.Do(controltest.Request{Method: http.MethodPost, Path: p.Base() + "/demo", Body: struct{}{}})
		answers[res.StatusCode]++
		switch res.StatusCode {
		case http.StatusConflict:
			if said := p.Problem(res, body); !strings.Contains(said.Detail, "the demo is playing already") || !strings.Contains(said.Remedy, "--cancel") {
				t.Errorf("%+v", said)
			}
		case http.StatusTooManyRequests:
			if res.Header.Get("Retry-After") == "" {
				t.Error("it does not say when to try again")
			}
		}
	}
	if answers[202] != 1 || answers[409] == 0 || answers[429] == 0 || answers[202]+answers[409]+answers[429] != 30 {
		t.Errorf("%v", answers)
	}
	open, err := c.Store().OpenRuns(t.Context())
	if err != nil || len(open) != 1 {
		t.Fatalf("%d runs are open: %v", len(open), err)
	}
	if err := c.Runs().Cancel(t.Context(), choir.RoleShell, open[0].ID, ""); err != nil {
		t.Fatal(err)
	}
	ended(t, c, open[0].ID)
	again, err := p.StartDemo(t.Context(), c, choir.RoleShell, api.DemoParts{})
	if err != nil {
		t.Fatal(err)
	}
	if again.Run == open[0].ID {
		t.Error("it is the same run")
	}
}

// ended waits for the end of a run.
func ended(t *testing.T, c *computer.Computer, run choir.ID) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), controltest.Patience)
	defer cancel()
	for {
		at := head(c)
		known, err := c.Store().Run(ctx, run)
		if err != nil {
			t.Fatal(err)
		}
		if !known.State.Open() {
			return
		}
		if err := c.Store().WaitPast(ctx, at); err != nil {
			t.Fatal(err)
		}
	}
}

// TestADemoBeyondTheDesktopsBudgetChangesNothing: its prompt would be refused, so its
// project is not brought either.
func TestADemoBeyondTheDesktopsBudgetChangesNothing(t *testing.T) {
	p := demoPlane(t, func(cfg *supervisor.Config) { cfg.File.Limits.DesktopCost = 1 })
	c := p.Computers()[0]
	run, _, err := c.Runs().Prompt(t.Context(), choir.RoleDesktop, choir.PromptSubmitted{Text: "x"}, "")
	if err != nil {
		t.Fatal(err)
	}
	ended(t, c, run) // no model is connected
	id, err := c.NewID()
	if err != nil {
		t.Fatal(err)
	}
	d, err := choir.NewDraft(id, choir.ModelReturned{Call: id, Caller: "director", Provider: "p", Model: "m", CostUSD: 2})
	if err == nil {
		_, err = c.Store().Append(t.Context(), choir.RoleControl, d.ForRun(run, ""))
	}
	if err != nil {
		t.Fatal(err)
	}
	before := head(c)
	if _, err := p.StartDemo(t.Context(), c, choir.RoleDesktop, api.DemoParts{}); choir.CodeOf(err) != choir.CodeBudget {
		t.Errorf("the desktop's demo: %v", err)
	}
	if types := said(t, c, before); len(types) != 0 {
		t.Errorf("the refusal left %v", types)
	}
	if _, err := p.StartDemo(t.Context(), c, choir.RoleShell, api.DemoParts{}); err != nil {
		t.Errorf("the owner's demo: %v", err)
	}
}

// TestADemoOfOneComputerWaitsForNoOther has one computer's demo at its beginning while
// another's is started.
func TestADemoOfOneComputerWaitsForNoOther(t *testing.T) {
	begun, release := make(chan struct{}), make(chan struct{})
	p := demoPlane(t, func(cfg *supervisor.Config) {
		play := cfg.Demo.Play
		cfg.Demo.Play = func(recording []byte, wait supervisor.Wait) (map[string]modelgw.Route, error) {
			if string(recording) == "slow" {
				close(begun)
				<-release
				return nil, choir.E("test", choir.CodeCorrupt, "it is damaged")
			}
			return play(recording, wait)
		}
	})
	a := p.Computers()[0]
	forked, err := p.Fork(t.Context(), a, choir.RoleShell, api.ForkRequest{Name: "b"})
	if err != nil {
		t.Fatal(err)
	}
	b, err := p.Computer(forked.ID)
	if err != nil {
		t.Fatal(err)
	}
	slow := make(chan error, 1)
	go func() {
		_, err := p.StartDemo(context.WithoutCancel(t.Context()), a, choir.RoleShell, api.DemoParts{Recording: []byte("slow")})
		slow <- err
	}()
	<-begun
	if _, err := p.StartDemo(t.Context(), a, choir.RoleShell, api.DemoParts{}); choir.CodeOf(err) != choir.CodeBusy {
		t.Errorf("a second one of the same computer: %v", err)
	}
	if _, err := p.StartDemo(t.Context(), b, choir.RoleShell, api.DemoParts{}); err != nil {
		t.Errorf("that of another computer: %v", err)
	}
	close(release)
	if err := <-slow; choir.CodeOf(err) != choir.CodeCorrupt {
		t.Error(err)
	}
}
