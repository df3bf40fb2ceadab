package computer

import (
	"context"
	"strings"
	"unicode/utf8"

	"choiros/internal/choir"
)

// Prompt begins a run. The key, when given, makes it idempotent: the same key
// begins one run. Repo, when given, must be a project of this computer, and After
// a run of it that has ended: else code not_found or conflict.
func (c *Computer) Prompt(ctx context.Context, role choir.Role, p choir.PromptSubmitted, key choir.ID) (run choir.ID, r choir.Receipt, err error) {
	p.Text = strings.TrimSpace(p.Text)
	if n := utf8.RuneCountInString(p.Text); n == 0 || n > choir.MaxInstruction {
		e := choir.Invalid("text", "a prompt has 1 to %d characters, not %d", choir.MaxInstruction, n)
		if n > 0 {
			e.Code = choir.CodeTooLarge
		}
		return "", r, e
	}
	if p.Repo != "" {
		if err := c.mustHaveProject(ctx, p.Repo); err != nil {
			return "", r, err
		}
	}
	if p.Proposal != nil {
		if _, err := c.store.Document(ctx, p.Proposal.Document, p.Proposal.Version); err != nil {
			return "", r, choir.Under("proposal", err)
		}
	}
	if p.After != "" {
		if err := c.mustHaveEnded(ctx, p.After); err != nil {
			return "", r, err
		}
	}
	if key == "" {
		if key, err = c.newID(); err != nil {
			return "", r, err
		}
	}
	if role == choir.RoleDesktop {
		if err := c.desktopMayPrompt(ctx, key); err != nil {
			return "", r, err
		}
	}
	run = choir.DeriveID(key, "run")
	r, err = c.events.AppendToRun(ctx, role, key, run, "", p)
	return run, r, err
}

// Steer adds to a run while it works.
func (c *Computer) Steer(ctx context.Context, role choir.Role, run choir.ID, text string) error {
	if err := c.mustBeOpen(ctx, run); err != nil {
		return err
	}
	return c.say(ctx, role, run, choir.SteeringSubmitted{Text: text})
}

// Cancel stops a run, or the tasks of one that a person wrote without a prompt.
// Stopping one that has ended is code conflict.
func (c *Computer) Cancel(ctx context.Context, role choir.Role, run choir.ID, reason string) error {
	err := c.mustBeOpen(ctx, run)
	if choir.CodeOf(err) == choir.CodeNotFound {
		err = c.mustHaveTasks(ctx, run, err)
	}
	if err != nil {
		return err
	}
	return c.say(ctx, role, run, choir.RunCancelRequested{Reason: reason})
}

// Dismiss puts away the card of a run that has ended; once more changes nothing.
// Code conflict while the run is at work.
func (c *Computer) Dismiss(ctx context.Context, role choir.Role, run choir.ID) error {
	r, err := c.store.Run(ctx, run)
	switch {
	case err != nil || r.Dismissed:
		return err
	case r.State.Open():
		return choir.E("computer.dismiss", choir.CodeConflict, "run %s is at work", run).WithRemedy("stop it first: choir run %s --cancel", run)
	}
	_, err = c.events.AppendToRun(ctx, role, choir.DeriveID(run, "dismissed"), run, "", choir.RunDismissed{})
	if choir.FirstOf(err) != nil {
		return nil // another browser was faster
	}
	return err
}

// Answer answers the question a run waits for.
func (c *Computer) Answer(ctx context.Context, role choir.Role, run choir.ID, question, text string) error {
	r, err := c.store.Run(ctx, run)
	if err != nil {
		return err
	}
	if r.Question == nil || question != "" && r.Question.ID != question {
		return choir.E("computer.answer", choir.CodeConflict, "run %s waits for no such question", run).WithRemedy("choir run %s shows what it waits for", run)
	}
	// There is one answer per question; the same one again gets its receipt.
	id := choir.DeriveID(run, "answer", r.Question.ID)
	_, err = c.events.AppendToRun(ctx, role, id, run, "", choir.QuestionAnswered{Question: r.Question.ID, Text: text})
	return err
}

func (c *Computer) mustBeOpen(ctx context.Context, run choir.ID) error {
	r, err := c.store.Run(ctx, run)
	if err != nil {
		return err
	}
	if !r.State.Open() {
		return choir.E("computer.run", choir.CodeConflict, "run %s has ended: %s", run, r.State)
	}
	return nil
}

// mustHaveEnded is for the run that a prompt follows up.
func (c *Computer) mustHaveEnded(ctx context.Context, run choir.ID) error {
	r, err := c.store.Run(ctx, run)
	switch {
	case choir.CodeOf(err) == choir.CodeNotFound:
		return &choir.Error{Op: "computer.prompt", Code: choir.CodeNotFound, Path: "after", Msg: "there is no run " + string(run) + " to follow up", Remedy: "choir run lists the runs"}
	case err != nil:
		return err
	case r.State.Open():
		return &choir.Error{Op: "computer.prompt", Code: choir.CodeConflict, Path: "after", Msg: "run " + string(run) + " has not ended", Remedy: "add to it while it works: choir run " + string(run) + " --steer TEXT"}
	}
	return nil
}

// mustHaveTasks is for a run without a prompt: unknown when it has no task, ended
// when all of them are answered.
func (c *Computer) mustHaveTasks(ctx context.Context, run choir.ID, unknown error) error {
	tasks, err := c.store.Tasks(ctx, run)
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
	return choir.E("computer.run", choir.CodeConflict, "run %s has ended", run)
}

func (c *Computer) say(ctx context.Context, role choir.Role, run choir.ID, p choir.Payload) error {
	id, err := c.newID()
	if err == nil {
		_, err = c.events.AppendToRun(ctx, role, id, run, "", p)
	}
	return err
}
