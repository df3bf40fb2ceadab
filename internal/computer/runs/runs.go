// Package runs is what people ask of the runs of one computer: that one begins, that it
// takes up more, stops, gets an answer, or is put away. It refuses what the log says
// cannot be, such as an answer that no run waits for, and prompts of a desktop whose
// runs have used up their budget.
//
// It works on the computer's log alone. The Director and the Associate take up what is
// asked when it is in the log, see package dispatch.
package runs

import (
	"context"
	"iter"
	"strings"
	"time"
	"unicode/utf8"

	"choiros/internal/choir"
	"choiros/internal/computer/appender"
	"choiros/internal/eventstore"
)

// Log is the part of the computer's log that Runs reads. eventstore.Store implements it.
type Log interface {
	Run(ctx context.Context, id choir.ID) (eventstore.Run, error)
	Runs(ctx context.Context, limit int, before uint64) ([]eventstore.Run, error)
	Tasks(ctx context.Context, run choir.ID) ([]eventstore.Task, error)
	Document(ctx context.Context, id choir.ID, version int) (eventstore.Document, error)
	Event(ctx context.Context, id choir.ID) (choir.Event, error)
	First(ctx context.Context, t choir.Type, subject ...string) (choir.Event, error)
	EventsOfRun(ctx context.Context, run choir.ID, after uint64) iter.Seq2[choir.Event, error]
}

// Config configures Runs.
type Config struct {
	// MustHaveProject refuses the name of a project that the computer does not have.
	MustHaveProject func(ctx context.Context, name string) error
	// DesktopCostUSD bounds what the runs that a desktop began within DesktopSpan may
	// cost; 0 is no bound.
	DesktopCostUSD float64
	DesktopSpan    time.Duration
	Now            func() time.Time
}

// Runs is the runs of one computer: it answers what people ask about them and appends
// their events. It is safe for concurrent use. The role passed to a method is that of the
// page or the command that asks; the events get its source.
type Runs struct {
	cfg     Config
	log     Log
	events  *appender.Appender // appends to log
	desktop desktopRuns
}

// New returns the runs of a computer. It reads log, and appends with events, which must
// append to the same log.
func New(log Log, events *appender.Appender, cfg Config) *Runs {
	return &Runs{cfg: cfg, log: log, events: events}
}

// Prompt starts a run and returns its id and the receipt of its prompt. The same
// non-empty key starts one run only. p.Repo must be a project of this computer and
// p.After one of its runs that has ended, else the error is code not_found or conflict. A
// desktop whose runs have used up their cost limit is code budget.
func (rs *Runs) Prompt(ctx context.Context, role choir.Role, p choir.PromptSubmitted, key choir.ID) (run choir.ID, r choir.Receipt, err error) {
	p.Text = strings.TrimSpace(p.Text)
	if n := utf8.RuneCountInString(p.Text); n == 0 || n > choir.MaxInstruction {
		e := choir.Refuse("computer.prompt", choir.ReasonPromptLength, choir.CountOf("most", choir.MaxInstruction), choir.CountOf("n", n)).At("text")
		if n > 0 {
			e.Code = choir.CodeTooLarge
		}
		return "", r, e
	}
	if p.Repo != "" {
		if err := rs.cfg.MustHaveProject(ctx, p.Repo); err != nil {
			return "", r, err
		}
	}
	if p.Proposal != nil {
		if _, err := rs.log.Document(ctx, p.Proposal.Document, p.Proposal.Version); err != nil {
			return "", r, choir.Under("proposal", err)
		}
	}
	if p.After != "" {
		if err := rs.mustHaveEnded(ctx, p.After); err != nil {
			return "", r, err
		}
	}
	if key == "" {
		if key, err = rs.events.NewID(); err != nil {
			return "", r, err
		}
	}
	if role == choir.RoleDesktop {
		if err := rs.desktopMayPrompt(ctx, key); err != nil {
			return "", r, err
		}
	}
	run = choir.DeriveID(key, "run")
	r, err = rs.events.AppendToRun(ctx, role, key, run, "", p)
	return run, r, err
}

// Steer adds text to a run in progress. A run that has ended is code conflict.
func (rs *Runs) Steer(ctx context.Context, role choir.Role, run choir.ID, text string) error {
	if err := rs.mustBeOpen(ctx, run); err != nil {
		return err
	}
	return rs.appendToOpenRun(ctx, role, run, choir.SteeringSubmitted{Text: text})
}

// Cancel requests the end of a run, or of tasks that a person dispatched under its id
// without a prompt. A run that has ended is code conflict.
func (rs *Runs) Cancel(ctx context.Context, role choir.Role, run choir.ID, reason string) error {
	err := rs.mustBeOpen(ctx, run)
	if choir.CodeOf(err) == choir.CodeNotFound {
		err = rs.mustHaveTasks(ctx, run, err)
	}
	if err != nil {
		return err
	}
	return rs.appendToOpenRun(ctx, role, run, choir.RunCancelRequested{Reason: reason})
}

// Pause holds a run that has not ended, until Resume: it begins no model call, tool call,
// command or step. What it has in hand comes to its end. A run that is paused already stays
// so. A run that has ended is code conflict.
func (rs *Runs) Pause(ctx context.Context, role choir.Role, run choir.ID) error {
	return rs.setPaused(ctx, role, run, true, choir.RunPaused{})
}

// Resume lets a paused run go on where it was. A run that is not paused stays so. A run that
// has ended is code conflict.
func (rs *Runs) Resume(ctx context.Context, role choir.Role, run choir.ID) error {
	return rs.setPaused(ctx, role, run, false, choir.RunResumed{})
}

// setPaused appends p unless the run is already as it would be then.
func (rs *Runs) setPaused(ctx context.Context, role choir.Role, run choir.ID, paused bool, p choir.Payload) error {
	r, err := rs.log.Run(ctx, run)
	switch {
	case err != nil:
		return err
	case !r.State.Open():
		return choir.Refuse("computer.run", choir.ReasonRunEnded, choir.TextOf("run", run))
	case (r.PausedSeq > 0) == paused:
		return nil
	}
	return rs.appendToOpenRun(ctx, role, run, p)
}

// Dismiss hides the card of a run that has ended. A second call has no effect. While the
// run is in progress the error is code conflict.
func (rs *Runs) Dismiss(ctx context.Context, role choir.Role, run choir.ID) error {
	r, err := rs.log.Run(ctx, run)
	switch {
	case err != nil || r.Dismissed:
		return err
	case r.State.Open():
		return choir.Refuse("computer.dismiss", choir.ReasonRunAtWork, choir.TextOf("run", run))
	}
	_, err = rs.events.AppendToRun(ctx, role, choir.DeriveID(run, "dismissed"), run, "", choir.RunDismissed{})
	if choir.FirstOf(err) != nil {
		return nil // another browser was faster
	}
	return err
}

// Answer answers the question that a run waits for; an empty question means any. If the
// run waits for no such question the error is code conflict.
func (rs *Runs) Answer(ctx context.Context, role choir.Role, run choir.ID, question, text string) error {
	r, err := rs.log.Run(ctx, run)
	if err != nil {
		return err
	}
	if r.Question == nil || question != "" && r.Question.ID != question {
		return choir.Refuse("computer.answer", choir.ReasonNoSuchQuestion, choir.TextOf("run", run))
	}
	// There is one answer per question; the same one again gets its receipt.
	id := choir.DeriveID(run, "answer", r.Question.ID)
	_, err = rs.events.AppendToRun(ctx, role, id, run, "", choir.QuestionAnswered{Question: r.Question.ID, Text: text})
	return err
}

func (rs *Runs) mustBeOpen(ctx context.Context, run choir.ID) error {
	r, err := rs.log.Run(ctx, run)
	if err != nil {
		return err
	}
	if !r.State.Open() {
		return choir.Refuse("computer.run", choir.ReasonRunEnded, choir.TextOf("run", run))
	}
	return nil
}

// mustHaveEnded checks the run that a prompt follows up: an unknown run is code
// not_found, one in progress conflict.
func (rs *Runs) mustHaveEnded(ctx context.Context, run choir.ID) error {
	r, err := rs.log.Run(ctx, run)
	switch {
	case choir.CodeOf(err) == choir.CodeNotFound:
		return choir.Refuse("computer.prompt", choir.ReasonNoRunToFollow, choir.TextOf("run", run)).At("after")
	case err != nil:
		return err
	case r.State.Open():
		return choir.Refuse("computer.prompt", choir.ReasonRunNotEnded, choir.TextOf("run", run)).At("after")
	}
	return nil
}

// mustHaveTasks checks a run without a prompt. It returns unknown if the run has no task,
// code conflict if all its tasks are answered, and nil otherwise.
func (rs *Runs) mustHaveTasks(ctx context.Context, run choir.ID, unknown error) error {
	tasks, err := rs.log.Tasks(ctx, run)
	if err != nil {
		return err
	}
	if len(tasks) == 0 {
		return unknown
	}
	for _, t := range tasks {
		if t.Result == nil {
			return nil
		}
	}
	return choir.Refuse("computer.run", choir.ReasonRunEnded, choir.TextOf("run", run))
}

func (rs *Runs) appendToOpenRun(ctx context.Context, role choir.Role, run choir.ID, p choir.Payload) error {
	id, err := rs.events.NewID()
	if err == nil {
		_, err = rs.events.AppendToRun(ctx, role, id, run, "", p)
	}
	return err
}

// Read returns the prompt and the end of a run. A run that does not exist, or is in
// progress, is code not_found.
func (rs *Runs) Read(ctx context.Context, run choir.ID) (out choir.RunReadReply, err error) {
	asked, err := rs.log.First(ctx, choir.TypePromptSubmitted, string(run))
	if err != nil {
		return out, err
	}
	ended, err := rs.log.First(ctx, choir.TypeRunFinished, string(run))
	if err != nil {
		return out, err
	}
	if err := choir.DecodeDurable(asked.Payload, &out.Asked); err != nil {
		return out, err
	}
	return out, choir.DecodeDurable(ended.Payload, &out.Ended)
}
