package effects

import (
	"bytes"
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/computer/moments"
	"choiros/internal/computer/tasks"
	"choiros/internal/computer/workspace"
	"choiros/internal/effect"
	"choiros/internal/eventstore"
)

// Hold holds the result of a task, which is among the drafts of the Associate, if a rule demands
// an approval: the workspace is again as before the task, and an event has the result. Code
// conflict: it is held, and the drafts must not be appended. Drafts without a result, and results
// that need no approval, are left alone.
func (e *Effects) Hold(ctx context.Context, drafts []choir.Draft) error {
	i := slices.IndexFunc(drafts, func(d choir.Draft) bool { return d.Type == choir.TypeTaskReturned })
	if i < 0 {
		return nil
	}
	returned, err := choir.DecodePayload(choir.TypeTaskReturned, drafts[i].Payload)
	if err != nil {
		return nil // the store says what is wrong with it
	}
	result := returned.(*choir.TaskReturned).Result
	if result.TaskID != drafts[i].Task {
		return choir.Invalid("result.task_id", "is %s, but the event is about %s", result.TaskID, drafts[i].Task)
	}
	if _, err := e.log.First(ctx, choir.TypeEffectHeld, string(result.TaskID)); choir.CodeOf(err) != choir.CodeNotFound {
		if err == nil {
			err = choir.Refuse("computer.effect", choir.ReasonEffectHeld)
		}
		return err
	}
	if e.cfg.Policy.Empty() {
		return nil
	}
	t, err := e.log.Task(ctx, result.TaskID)
	switch {
	case choir.CodeOf(err) == choir.CodeNotFound, err == nil && (t.State != eventstore.TaskStarted || isOwners(&t.Task)):
		return nil
	case err != nil:
		return err
	}
	held, err := e.changes.TakeAside(ctx, t.ID, func(ctx context.Context, o tasks.Offered) (choir.Payload, bool, error) {
		return e.decide(ctx, o, result, checkpointIn(drafts))
	})
	if err == nil && held {
		err = choir.Refuse("computer.effect", choir.ReasonEffectHeld)
	}
	return err
}

// isOwners reports whether a task changes no file of a project: checkpoints commit what is there.
func isOwners(t *choir.DirectorTask) bool {
	return t.GitAction == choir.GitCheckpoint || t.GitAction == choir.GitStatus
}

// checkpointIn returns the checkpoint among the drafts of a result; nil for none.
func checkpointIn(drafts []choir.Draft) *choir.HeldCheckpoint {
	for _, d := range drafts {
		if p, err := choir.DecodePayload(d.Type, d.Payload); err == nil {
			if c, ok := p.(*choir.CheckpointCreated); ok {
				return &choir.HeldCheckpoint{Checkpoint: c.Checkpoint, Subject: c.Subject, Trigger: c.Trigger, Verified: c.Verified, Commits: c.Commits, Withheld: c.Withheld}
			}
		}
	}
	return nil
}

// decide returns the event that holds what a task offers; nil if no rule demands an approval. drop
// reports that the change must not stay although the task failed.
func (e *Effects) decide(ctx context.Context, o tasks.Offered, result choir.AssociateResult, checkpoint *choir.HeldCheckpoint) (held choir.Payload, drop bool, err error) {
	p := choir.EffectHeld{
		Base: o.Task.Base, Snapshot: o.Snapshot, Files: workspace.CountShown(o.Changes), Result: result, Checkpoint: checkpoint,
		Tools: []string{}, Hosts: []choir.EffectHost{},
	}
	facts, err := e.facts(ctx, o, &p)
	if err != nil {
		return nil, false, err
	}
	if p.Rules = e.cfg.Policy.Demands(facts); len(p.Rules) == 0 {
		return nil, false, nil
	}
	if result.Status != choir.StatusOK {
		return nil, true, nil
	}
	p.Rules = p.Rules[:min(len(p.Rules), maxListed)]
	p.Result.Snapshot, p.Result.Conflicts = o.Snapshot, o.Conflicts
	return p, false, e.fit(ctx, &p)
}

// maxListed is the number of rules, tools and hosts that an event lists.
const maxListed = 64

// bytesOfLine is how many bytes of a file that is no text count as one line of a change.
const bytesOfLine = 32

// facts returns what a task did, and fills in the numbers, tools and hosts of its event. The
// change and the hosts are as the control plane saw them; tools and commands are what the
// Associate recorded.
func (e *Effects) facts(ctx context.Context, o tasks.Offered, p *choir.EffectHeld) (effect.Facts, error) {
	f := effect.Facts{Files: p.Files}
	for i := range o.Changes {
		ch := &o.Changes[i]
		for _, path := range []string{ch.From, ch.Path} {
			if path != "" {
				f.Paths = append(f.Paths, strings.TrimPrefix(path, "workspace/"))
			}
		}
	}
	files, cut, err := moments.TextDiff(ctx, e.keeper, workspace.Difference{From: p.Base, To: o.Snapshot, Changes: o.Changes})
	if err != nil {
		return f, err
	}
	for _, one := range files {
		added, removed := countLines(one.Diff)
		p.Added, p.Removed = p.Added+added, p.Removed+removed
	}
	f.Lines = p.Added + p.Removed
	for _, one := range files {
		if one.Binary {
			f.Lines += sizeOf(o, one.Path) / bytesOfLine
		}
	}
	if cut {
		f.Lines = math.MaxInt64 // more than anybody reads
	}
	for _, c := range o.Task.Task.Commands {
		f.Tools = append(f.Tools, string(choir.ToolBash))
		f.Commands = append(f.Commands, cmp.Or(c.Shell, strings.Join(c.Argv, " ")))
	}
	for _, c := range p.Result.CommandsRun {
		f.Commands = append(f.Commands, c.Command)
	}
	if a := o.Task.Task.GitAction; a != "" {
		f.Commands = append(f.Commands, strings.Join(append([]string{string(a)}, o.Task.Task.GitArgs...), " "))
	}
	return f, e.addRecorded(ctx, o.Task, &f, p)
}

// sizeOf returns the size of a changed path, before and after together.
func sizeOf(o tasks.Offered, path string) (n int64) {
	for i := range o.Changes {
		if ch := &o.Changes[i]; ch.Path == path {
			if ch.Before != nil {
				n += ch.Before.Size
			}
			if ch.After != nil {
				n += ch.After.Size
			}
		}
	}
	return n
}

// addRecorded adds the tools, commands and hosts of a task that the log has.
func (e *Effects) addRecorded(ctx context.Context, t eventstore.Task, f *effect.Facts, p *choir.EffectHeld) error {
	for ev, err := range e.log.EventsOfRun(ctx, t.Run, t.DispatchedSeq-1) {
		if err != nil {
			return err
		}
		if _, known := choir.LookupType(ev.Type); ev.Task != t.ID || !known {
			continue
		}
		payload, err := choir.ReadPayload(ev.Type, ev.Payload)
		if err != nil {
			return err
		}
		switch x := payload.(type) {
		case *choir.ToolCalled:
			if x.Tool != string(choir.ToolVerify) {
				f.Tools = append(f.Tools, x.Tool)
			}
			if x.Input.Command != "" {
				f.Commands = append(f.Commands, x.Input.Command)
			}
		case *choir.EgressRefused:
			f.Hosts = append(f.Hosts, x.Host)
			addHost(p, choir.EffectHost{Host: x.Host, Port: x.Port})
		case *choir.EgressPassed:
			f.Hosts = append(f.Hosts, x.Host)
			addHost(p, choir.EffectHost{Host: x.Host, Port: x.Port, Sent: true})
		}
	}
	for _, tool := range f.Tools {
		if !slices.Contains(p.Tools, tool) && tool != "" && len(tool) <= 100 && len(p.Tools) < maxListed {
			p.Tools = append(p.Tools, tool)
		}
	}
	return nil
}

// addHost adds a host to an event, once.
func addHost(p *choir.EffectHeld, h choir.EffectHost) {
	if !slices.Contains(p.Hosts, h) && len(p.Hosts) < maxListed {
		p.Hosts = append(p.Hosts, h)
	}
}

// countLines returns the lines that a unified diff adds and removes.
func countLines(diff string) (added, removed int64) {
	inHunk := false
	for line := range strings.Lines(diff) {
		switch {
		case strings.HasPrefix(line, "@@"):
			inHunk = true
		case inHunk && strings.HasPrefix(line, "+"):
			added++
		case inHunk && strings.HasPrefix(line, "-"):
			removed++
		}
	}
	return added, removed
}

// fit shortens an event until the log takes it: it moves the result's diff to a blob, then cuts
// lists and outputs, which the log and the snapshots have.
func (e *Effects) fit(ctx context.Context, p *choir.EffectHeld) error {
	steps := []func() error{
		func() error {
			if p.Result.Diff == nil || p.Result.Diff.Content == "" {
				return nil
			}
			d, _, err := e.blobs.Put(ctx, bytes.NewReader([]byte(p.Result.Diff.Content)))
			p.Result.Diff = &choir.Diff{Format: p.Result.Diff.Format, Blob: d}
			return err
		},
		func() error {
			p.Result.FilesChanged = p.Result.FilesChanged[:min(len(p.Result.FilesChanged), 100)]
			p.Result.IgnoredFiles = p.Result.IgnoredFiles[:min(len(p.Result.IgnoredFiles), 50)]
			p.Result.CommandsRun = withoutOutput(p.Result.CommandsRun)
			p.Result.Verify.Commands = withoutOutput(p.Result.Verify.Commands)
			if p.Checkpoint != nil {
				p.Checkpoint.Withheld = nil
			}
			return nil
		},
		func() error {
			p.Result.FilesChanged, p.Result.IgnoredFiles, p.Result.Conflicts = []choir.FileChange{}, nil, nil
			p.Result.Summary, p.Result.Verify.Log = firstRunes(p.Result.Summary, 4000), firstRunes(p.Result.Verify.Log, 2000)
			return nil
		},
	}
	for _, step := range steps {
		raw, err := choir.Canonical(p)
		if err != nil || len(raw) <= choir.InlineLimit {
			return err
		}
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// firstRunes returns at most max characters of a text.
func firstRunes(s string, max int) string {
	if r := []rune(s); len(r) > max {
		return string(r[:max])
	}
	return s
}

// withoutOutput returns the last 20 commands without the ends of their outputs.
func withoutOutput(runs []choir.CommandRun) []choir.CommandRun {
	out := slices.Clone(runs[max(0, len(runs)-20):])
	for i := range out {
		out[i].StdoutTail, out[i].StderrTail = "", ""
	}
	return out
}
