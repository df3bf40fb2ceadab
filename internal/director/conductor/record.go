package conductor

import (
	"context"
	"slices"
	"sync"

	"choiros/internal/choir"
)

// record is the state of one run as read from the log so far.
type record struct {
	run    choir.ID
	cause  choir.ID // the prompt's event
	prompt choir.PromptSubmitted
	repos  []string // projects there were when the prompt came
	served bool     // a service was made for it; guarded by the Conductor

	stopped chan struct{} // closed when the user cancelled or the run finished

	mu       sync.Mutex // guards everything below
	changed  chan struct{}
	asked    map[string]bool
	answers  map[string]choir.QuestionAnswered
	returned map[choir.ID]choir.TaskReturned
	said     map[choir.ID][]string // notes of the worker, by task
	steering []choir.SteeringSubmitted
	added    map[choir.ID]string            // texts of steering, by event
	heard    map[choir.ID][]string          // of them what a task was told before its result, by task
	called   map[choir.ID]*pastCall         // model calls
	made     *choir.PlanMade                // the plan that holds
	changes  []*choir.PlanChanged           // of that plan
	refused  [][]string                     // why plans before it were refused
	turned   map[choir.ID]string            // why other tool calls were refused, by event
	judged   map[choir.ID]*choir.TaskJudged // verdicts, by task
	held     map[choir.ID]bool              // tasks whose results wait for the owner
	cancel   bool
	paused   bool
	finished bool
	clock    clock
	history  []choir.Payload // payloads for the document, in the order of the log
	document choir.ID
	version  int // newest version of the document
}

func newRecord(e choir.Event, p choir.PromptSubmitted, repos []string) *record {
	return &record{
		run: e.Run, cause: e.ID, prompt: p, repos: slices.Clone(repos),
		stopped: make(chan struct{}), changed: make(chan struct{}),
		asked: map[string]bool{}, answers: map[string]choir.QuestionAnswered{},
		returned: map[choir.ID]choir.TaskReturned{}, said: map[choir.ID][]string{},
		added: map[choir.ID]string{}, heard: map[choir.ID][]string{},
		called: map[choir.ID]*pastCall{}, turned: map[choir.ID]string{}, judged: map[choir.ID]*choir.TaskJudged{}, held: map[choir.ID]bool{},
		clock: clock{began: e.Time, last: e.Time},
	}
}

// apply adds an event of the run and wakes the waiting goroutines. Only the first
// result, answer and end count.
func (r *record) apply(e choir.Event, payload choir.Payload) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch p := payload.(type) {
	case *choir.SteeringSubmitted:
		r.steering = append(r.steering, *p)
		r.added[e.ID] = p.Text
	case *choir.TaskSteered:
		if text := r.added[p.Steering]; text != "" && len(r.returned[e.Task].Result.TaskID) == 0 {
			r.heard[e.Task] = append(r.heard[e.Task], text)
		}
	case *choir.RunCancelRequested:
		r.cancel = true
		r.stop()
	case *choir.RunPaused:
		r.paused = true
	case *choir.RunResumed:
		r.paused = false
	case *choir.RunFinished:
		r.finished = true
		r.stop()
	case *choir.TaskProgressed:
		if p.Kind == "request" && len(r.returned[e.Task].Result.TaskID) == 0 {
			r.said[e.Task] = append(r.said[e.Task], p.Request+": "+p.Text)
		}
	case *choir.EffectHeld:
		r.held[e.Task] = true
	case *choir.EffectAnswered:
		delete(r.held, e.Task)
	case *choir.TaskReturned:
		delete(r.held, e.Task)
		if _, ok := r.returned[p.Result.TaskID]; !ok {
			r.returned[p.Result.TaskID] = *p
		}
	case *choir.QuestionAsked:
		r.asked[p.Question.ID] = true
	case *choir.QuestionAnswered:
		if _, ok := r.answers[p.Question]; !ok && r.asked[p.Question] {
			r.answers[p.Question] = *p
		}
	case *choir.ModelCalled:
		r.addCall(p)
	case *choir.ModelReturned:
		r.endCall(p)
	case *choir.PlanMade:
		r.made = p
	case *choir.PlanChanged:
		r.changes = append(r.changes, p)
	case *choir.PlanRefused:
		r.refused = append(r.refused, p.Problems)
	case *choir.DecisionRefused:
		r.turned[e.ID] = p.Reason
	case *choir.TaskJudged:
		if r.judged[p.Task] == nil {
			r.judged[p.Task] = p
		}
	}
	if v, ok := payload.(*choir.DocumentVersioned); ok {
		r.document, r.version = v.Document, max(r.version, v.Version)
	} else {
		r.history = append(r.history, payload)
	}
	r.clock.tick(e.Time, r.paused || len(r.asked) > len(r.answers) || len(r.held) > 0)
	close(r.changed)
	r.changed = make(chan struct{})
}

// stop closes stopped, once. The caller holds the lock.
func (r *record) stop() {
	select {
	case <-r.stopped:
	default:
		close(r.stopped)
	}
}

// wait waits until ready returns true, which is called with the lock held. Its error is
// the cause of the end of ctx.
func (r *record) wait(ctx context.Context, ready func() bool) error {
	for {
		r.mu.Lock()
		ok, changed := ready(), r.changed
		r.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (r *record) isFinished() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.finished
}

func (r *record) isCancelled() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.cancel
}

// result waits for the result of a task, and returns it with the texts that the worker
// recorded before, and those of the user that the worker was told.
func (r *record) result(ctx context.Context, task choir.ID) (res choir.TaskReturned, said, heard []string, err error) {
	err = r.wait(ctx, func() bool {
		var ok bool
		res, ok = r.returned[task]
		said, heard = slices.Clone(r.said[task]), slices.Clone(r.heard[task])
		return ok
	})
	return res, said, heard, err
}

// answer waits for the answer to a question.
func (r *record) answer(ctx context.Context, question string) (a choir.QuestionAnswered, err error) {
	err = r.wait(ctx, func() bool {
		var ok bool
		a, ok = r.answers[question]
		return ok
	})
	return a, err
}

// wake tells the clock that the Director was down until now.
func (r *record) wake(now choir.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clock.wake(now)
}

// worked returns the milliseconds for which the run has been worked on.
func (r *record) worked(now choir.Time) choir.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.clock.worked(now)
}

// clock measures the milliseconds for which a run has been worked on, from the times of
// its events. Time spent waiting for the user, paused, and while the Director was down, does
// not count.
type clock struct {
	began, last choir.Time
	idle        choir.Time
	waiting     bool // the run waited for the user after the last event, or was paused
}

// tick advances the clock to an event's time. waiting reports whether the run now waits
// for the user.
func (c *clock) tick(now choir.Time, waiting bool) {
	if c.waiting {
		c.idle += max(0, now-c.last)
	}
	c.last, c.waiting = max(c.last, now), waiting
}

// wake advances the clock and does not count the time since the last event.
func (c *clock) wake(now choir.Time) {
	c.idle += max(0, now-c.last)
	c.last = max(c.last, now)
}

// worked returns the milliseconds of work until now.
func (c *clock) worked(now choir.Time) choir.Time {
	if c.waiting {
		now = c.last
	}
	return max(0, now-c.began-c.idle)
}
