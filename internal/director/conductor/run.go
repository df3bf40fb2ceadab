package conductor

import (
	"context"
	"errors"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/thejerf/suture/v4"

	"choiros/internal/agentloop"
	"choiros/internal/choir"
	"choiros/internal/model"
)

// maxFailures is the maximum of executions of a run that end with an internal error.
// After that the run is recorded as failed.
const maxFailures = 3

// runService executes one run under the runs' supervisor.
type runService struct {
	conductor *Conductor
	rec       *record
	failures  int // only Serve uses it, and only one Serve runs at a time
}

func (s *runService) String() string { return "run " + string(s.rec.run) }

// Serve executes the run from its prompt until it is finished. After an internal error
// it returns it, and the supervisor calls Serve again.
func (s *runService) Serve(ctx context.Context) error {
	r := newRun(ctx, s.conductor, s.rec)
	err := s.attempt(ctx, r)
	switch {
	case err == nil:
		return suture.ErrDoNotRestart
	case ctx.Err() != nil:
		return ctx.Err()
	case choir.CodeOf(err).Retry():
		return err
	}
	s.failures++
	s.conductor.cfg.Logger.Error("run", "run", s.rec.run, "error", err, "failures", s.failures)
	if s.failures < maxFailures {
		return err
	}
	r.ledger.adopt()
	end := ending{choir.OutcomeFailed, choir.CodeInternal, "The run failed by a fault of the Director: " + err.Error()}
	if choir.FirstOf(err) != nil {
		end = ending{choir.OutcomeFailed, choir.CodeConflict, "The run ended because somebody else made each document or task that it was about to make: " + err.Error()}
	}
	if err := r.finish(end); err != nil {
		s.conductor.cfg.Logger.Error("run cannot be finished", "run", s.rec.run, "error", err)
	}
	return suture.ErrDoNotRestart
}

// attempt executes the run and converts a panic into an error.
func (s *runService) attempt(ctx context.Context, r *run) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = choir.E("director.run", choir.CodeInternal, "panic: %v", p)
			s.conductor.cfg.Logger.Error("run panics", "run", s.rec.run, "stack", string(debug.Stack()))
		}
	}()
	return r.serve(ctx)
}

// run is one execution of a run. It is used by one goroutine.
type run struct {
	cfg  Config
	rec  *record
	slot *slot

	ledger   *ledger
	evidence *evidence

	calls      calls
	spent      spent
	plan       *plan
	refusals   int // plans that did not hold
	questions  int
	questionID map[string]bool
	pending    *attempt           // the result the model is to judge
	toast      string             // shown instead of a document
	status     choir.AnswerStatus // of the answer; empty for a run that is not answered
	made       *madeInput         // what was asked for, as the answer names it; nil for none
	said       string             // plain words of the model that led to nothing
	ending     *ending            // how the run ends, once that is decided
}

// ending is the outcome of a run with its answer.
type ending struct {
	outcome choir.Outcome
	code    choir.Code
	answer  string
}

func newRun(ctx context.Context, c *Conductor, rec *record) *run {
	return &run{
		cfg: c.cfg, rec: rec, slot: &slot{slots: c.slots}, questionID: map[string]bool{},
		ledger:   &ledger{log: c.cfg.Log, key: c.cfg.Key, rec: rec, life: ctx},
		evidence: &evidence{log: c.cfg.Log, run: rec.run},
	}
}

var errStopped = errors.New("the run was stopped")

// serve executes the run and records its end.
func (r *run) serve(ctx context.Context) error {
	err := r.work(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return r.conclude(err)
}

// work executes the run. The user's stop cancels its waits at once. When the Director
// stops, the run is left to the next start.
func (r *run) work(ctx context.Context) error {
	defer r.slot.leave()
	ctx, cancel := context.WithCancelCause(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-r.rec.stopped:
			cancel(errStopped)
		case <-ctx.Done():
		}
	}()
	defer func() { cancel(nil); <-watched }()
	return r.execute(ctx)
}

// conclude records the end of the run that follows from an execution's error. Internal
// errors are returned.
func (r *run) conclude(err error) error {
	if r.rec.isFinished() {
		return nil
	}
	r.ledger.adopt()
	if r.rec.isCancelled() {
		return r.finish(ending{choir.OutcomeCancelled, "", "Stopped, as you asked. " + r.ledger.soFar()})
	}
	var over *reached
	var fatal *modelError
	switch {
	case errors.As(err, &over):
		return r.finishOver(over)
	case errors.As(err, &fatal):
		return r.finish(fatal.ending(r))
	case err != nil:
		return err
	}
	return r.finish(*r.ending, append(r.toastEffect(), r.proposalEffect()...)...)
}

// execute plans and works until the run's ending is decided.
func (r *run) execute(ctx context.Context) error {
	r.ledger.story.Apply(&r.rec.prompt)
	if err := r.slot.acquire(ctx); err != nil {
		return err
	}
	ctx, cancel := r.withTimeLimit(ctx)
	defer cancel()
	talk, err := r.earlierTalk(ctx)
	if err != nil {
		return err
	}
	facts, err := r.cfg.Log.ReadFacts(ctx, r.rec.run)
	if err != nil {
		return choir.Wrap("director.facts", "", err, "read what is in the workspace")
	}
	messages := []model.Message{agentloop.Say(model.User, opening(r.rec, facts, talk))}
	var said []string
	for reminders := 0; r.ending == nil; reminders++ {
		out, err := agentloop.Run(ctx, r.loop(ctx, messages))
		switch {
		case err != nil && errors.Is(context.Cause(ctx), errTime):
			return r.overTime()
		case err != nil:
			return err
		case r.ending != nil:
			return nil
		}
		said = append(said, strings.TrimSpace(out.Final))
		switch {
		case out.Stopped == agentloop.Done && r.mayBeAnswered(reminders, out.Final):
			return r.answerWith(choir.AnsweredDone, clipRunes(strings.Join(slices.Compact(said), "\n\n"), maxAnswer))
		case out.Stopped == agentloop.Done && reminders < maxReminders:
			messages = append(out.Messages, agentloop.Say(model.User, reminder))
		default:
			r.said = strings.TrimSpace(strings.Join(slices.Compact(said), "\n\n"))
			return &modelError{choir.E("director.run", choir.CodeProvider, "the model ended without one of its tools: %s", stopReason(out.Stopped))}
		}
	}
	return nil
}

// mayBeAnswered reports whether words of the model outside of tools are its answer:
// nothing is open, and where there was no plan, it was reminded of its tools once, since
// such words may only announce work.
func (r *run) mayBeAnswered(reminders int, words string) bool {
	if strings.TrimSpace(words) == "" {
		return false
	}
	return r.plan != nil && !r.plan.isOpen() || r.plan == nil && r.refusals == 0 && reminders > 0
}

// maxReminders is the maximum of reminders to a model that answers without a tool.
const maxReminders = 2

// stopReason describes why the agent loop ended without a tool.
func stopReason(r agentloop.Reason) string {
	switch r {
	case agentloop.Length:
		return "its answer was cut off at the token limit"
	case agentloop.Refusal:
		return "it refused"
	case agentloop.NoProgress:
		return "it repeated the same refused call"
	}
	return "it only talked"
}

// loop returns the configuration of the agent loop for the next messages.
func (r *run) loop(ctx context.Context, messages []model.Message) agentloop.Config {
	r.calls.talked = false
	return agentloop.Config{
		Model: caller{r}, ModelName: modelAlias, System: systemPrompt, Messages: messages,
		Tools: r.tools(), ToolChoice: "any", MaxSteps: r.cfg.Limits.Steps + 1, MaxTokens: maxAnswerTokens,
		Steer: r.steer, Asked: r.recordedConversation,
		OnDelta: func(d model.Delta) {
			if d.Text != "" {
				r.cfg.Live(r.rec.run, d.Text)
			}
		},
	}
}

const (
	// modelAlias is the name that the gateway maps to the configured model.
	modelAlias      = "director"
	maxAnswerTokens = 16_384
)

var errTime = errors.New("the time limit of the run is reached")

// withTimeLimit returns a context that is cancelled with errTime when the run's working
// time is used up.
func (r *run) withTimeLimit(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	left := func() time.Duration {
		return time.Duration(choir.Time(r.cfg.Limits.Seconds)*1000-r.rec.worked(r.cfg.Now())) * time.Millisecond
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for wait := left(); wait > 0; {
			if pause(ctx, wait) != nil {
				return
			}
			// More is left where the run waited for the user or was paused meanwhile.
			if wait = left(); wait > 0 {
				wait = max(wait, time.Second)
			}
		}
		cancel(errTime)
	}()
	return ctx, func() { cancel(nil); <-ended }
}

// overTime returns the error of the reached time limit.
func (r *run) overTime() error {
	worked := max(r.rec.worked(r.cfg.Now()), choir.Time(r.cfg.Limits.Seconds)*1000)
	return limitError("time", float64(r.cfg.Limits.Seconds), float64(worked/1000))
}
