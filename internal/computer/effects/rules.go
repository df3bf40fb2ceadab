package effects

import (
	"cmp"
	"context"
	"iter"
	"math"
	"slices"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/computer/moments"
	"choiros/internal/computer/tasks"
	"choiros/internal/computer/workspace"
	"choiros/internal/effect"
	"choiros/internal/eventstore"
	"choiros/internal/snapshot"
)

// RunLog is the part of the computer's log that Rules reads; eventstore.Store is one.
type RunLog interface {
	EventsOfRun(ctx context.Context, run choir.ID, after uint64) iter.Seq2[choir.Event, error]
	EventsOfTypes(ctx context.Context, after uint64, types ...choir.Type) iter.Seq2[choir.Event, error]
}

// Rules holds the policy of a computer against what its tasks do. It implements
// tasks.Approvals.
type Rules struct {
	policy func() effect.Policy
	open   OpenHosts
	log    RunLog
	keeper *snapshot.Keeper
}

// OpenHosts returns the hosts to which programs have something open, of a task or beside it. What
// was open before is in the log.
type OpenHosts func(task choir.ID) []choir.EffectHost

// NewRules makes the rules of a computer with a log and a keeper of its trees. policy returns the
// policy in force, also while others change it; nil holds nothing. A nil open returns no host.
func NewRules(policy func() effect.Policy, open OpenHosts, log RunLog, keeper *snapshot.Keeper) *Rules {
	if policy == nil {
		policy = func() effect.Policy { return effect.Policy{} }
	}
	if open == nil {
		open = func(choir.ID) []choir.EffectHost { return nil }
	}
	return &Rules{policy, open, log, keeper}
}

// Concern reports whether a rule could be about what a task will do.
func (r *Rules) Concern(task *choir.DirectorTask) bool {
	ahead := effect.Ahead{Project: task.Repo}
	for _, tool := range task.AllowedTools {
		ahead.Tools = append(ahead.Tools, string(tool))
	}
	if len(task.Commands) > 0 {
		ahead.Tools = []string{string(choir.ToolBash)}
	}
	return r.policy().MayDemand(ahead)
}

// Demand reports whether a rule is about what a task did.
func (r *Rules) Demand(ctx context.Context, o tasks.Offered) (bool, error) {
	p := choir.EffectHeld{Base: o.Task.Base, Snapshot: o.Snapshot, Files: workspace.CountShown(o.Changes)}
	facts, err := r.facts(ctx, o, &p)
	return err == nil && len(r.policy().Demands(facts)) > 0, err
}

// maxListed is the number of rules, tools and hosts that an event lists.
const maxListed = 64

// bytesOfLine is how many bytes of a file that is no text count as one line of a change.
const bytesOfLine = 32

// facts returns what a task did, and fills in the numbers, tools and hosts of its event. The
// change and the hosts are as the control plane saw them; tools and commands are what the
// Associate recorded.
func (r *Rules) facts(ctx context.Context, o tasks.Offered, p *choir.EffectHeld) (effect.Facts, error) {
	f := effect.Facts{Files: p.Files}
	for i := range o.Changes {
		ch := &o.Changes[i]
		for _, path := range []string{ch.From, ch.Path} {
			if path != "" {
				f.Paths = append(f.Paths, strings.TrimPrefix(path, "workspace/"))
			}
		}
		if ch.After != nil && ch.After.Kind == snapshot.Symlink {
			f.Links = append(f.Links, strings.TrimPrefix(ch.Path, "workspace/"))
		}
	}
	files, cut, err := moments.TextDiff(ctx, r.keeper, workspace.Difference{From: p.Base, To: o.Snapshot, Changes: o.Changes})
	if err != nil {
		return f, err
	}
	for _, one := range files {
		added, removed, long := countLines(one.Diff)
		p.Added, p.Removed = p.Added+added, p.Removed+removed
		f.Lines += added + removed + long
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
	open := r.open(o.Task.ID) // before the log, which has all that has ended by then
	if err := r.addRecorded(ctx, o.Task, &f, p); err != nil {
		return f, err
	}
	for _, h := range open {
		if !h.Beside {
			f.Hosts = append(f.Hosts, h.Host)
		}
		addHost(p, h)
	}
	return f, r.addBeside(ctx, o.Task, p)
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
func (r *Rules) addRecorded(ctx context.Context, t eventstore.Task, f *effect.Facts, p *choir.EffectHeld) error {
	refused := 0
	for ev, err := range r.log.EventsOfRun(ctx, t.Run, t.DispatchedSeq-1) {
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
			refused++
			f.Hosts = append(f.Hosts, x.Host)
			addHost(p, choir.EffectHost{Host: x.Host, Port: x.Port})
		case *choir.EgressPassed:
			f.Hosts = append(f.Hosts, x.Host)
			addHost(p, choir.EffectHost{Host: x.Host, Port: x.Port, Sent: true})
		}
	}
	f.AnyHost = refused >= eventstore.MaxEgressRefusals
	p.MoreHosts = p.MoreHosts || f.AnyHost
	for _, tool := range f.Tools {
		if !slices.Contains(p.Tools, tool) && tool != "" && len(tool) <= 100 && len(p.Tools) < maxListed {
			p.Tools = append(p.Tools, tool)
		}
	}
	return nil
}

// addBeside adds the hosts that programs of no task, and of others, reached while a task worked:
// by the address that it uses a program says itself whose it is.
func (r *Rules) addBeside(ctx context.Context, t eventstore.Task, p *choir.EffectHeld) error {
	for ev, err := range r.log.EventsOfTypes(ctx, t.DispatchedSeq, choir.TypeEgressPassed) {
		if err != nil {
			return err
		}
		if ev.Task == t.ID {
			continue
		}
		payload, err := choir.ReadPayload(ev.Type, ev.Payload)
		if err != nil {
			return err
		}
		x := payload.(*choir.EgressPassed)
		addHost(p, choir.EffectHost{Host: x.Host, Port: x.Port, Sent: true, Beside: true})
	}
	return nil
}

// addHost adds a host to an event, once. Where there are too many, a host that was reached takes
// the place of another that was not.
func addHost(p *choir.EffectHeld, h choir.EffectHost) {
	if slices.Contains(p.Hosts, h) {
		return
	}
	if len(p.Hosts) < maxListed {
		p.Hosts = append(p.Hosts, h)
		return
	}
	p.MoreHosts = true
	if !h.Sent {
		return
	}
	for i := len(p.Hosts) - 1; i >= 0; i-- {
		if !p.Hosts[i].Sent {
			p.Hosts = append(slices.Delete(p.Hosts, i, i+1), h)
			return
		}
	}
}

// bytesOfLongLine is how many bytes of one line of text count as a line of their own, so that
// a change is not small because it has no line breaks.
const bytesOfLongLine = 200

// countLines returns the lines that a unified diff adds and removes, and how many more they count
// as because they are long.
func countLines(diff string) (added, removed, long int64) {
	inHunk := false
	for line := range strings.Lines(diff) {
		switch {
		case strings.HasPrefix(line, "@@"):
			inHunk = true
		case inHunk && strings.HasPrefix(line, "+"):
			added++
			long += int64(len(line) / bytesOfLongLine)
		case inHunk && strings.HasPrefix(line, "-"):
			removed++
			long += int64(len(line) / bytesOfLongLine)
		}
	}
	return added, removed, long
}
