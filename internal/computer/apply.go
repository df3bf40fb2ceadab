package computer

import (
	"context"
	"strings"
	"time"

	"choiros/internal/choir"
	"choiros/internal/computer/workspace"
	"choiros/internal/guest"
	"choiros/internal/snapshot"
	"choiros/internal/timeline"
)

// Applied says what an undo or a take did, or would do.
type Applied struct {
	Difference
	// Conflicts are paths that were changed on both sides; with one, nothing was
	// done.
	Conflicts []timeline.Conflict
	Terminals int           // that it ends
	Receipt   choir.Receipt // none when there was nothing to do
	BackSeq   uint64        // the moment just before, to rewind to
}

// Apply carries what changed from base to theirs over to the workspace, and
// records it with the event that record makes. Code conflict, with the paths in
// Applied, when the workspace was changed differently there, and when a task
// works. With dryRun it only says what would change.
func (c *Computer) Apply(ctx context.Context, role choir.Role, base, theirs choir.Digest, record func(before, now choir.Digest, files int64) choir.Payload, dryRun bool) (Applied, error) {
	return c.apply(ctx, role, step{base: base, theirs: theirs, reason: "taken", why: choir.TerminalTaken, words: "Changes of another computer were taken; this terminal has ended.", record: record}, dryRun)
}

// step is something to be applied to the workspace.
type step struct {
	base, theirs choir.Digest
	reason       string // of the snapshot
	why          choir.TerminalReason
	words        string // the last line of terminals
	record       func(before, now choir.Digest, files int64) choir.Payload
}

func (c *Computer) apply(ctx context.Context, role choir.Role, s step, dryRun bool) (Applied, error) {
	unlock, err := c.workspace.Lock(ctx)
	if err != nil {
		return Applied{}, err
	}
	defer unlock()
	return c.applyHeld(ctx, role, s, dryRun)
}

// applyHeld is apply for who holds the tree.
func (c *Computer) applyHeld(ctx context.Context, role choir.Role, s step, dryRun bool) (Applied, error) {
	if err := c.workspace.MustBeIdle(ctx); err != nil {
		return Applied{}, err
	}
	now, client, a, err := c.merge(ctx, s)
	if err != nil || len(a.Changes) == 0 {
		return a, err
	}
	if dryRun {
		a.Terminals = len(c.roles.Terminals().List())
		return a, nil
	}
	ended, release := c.roles.Terminals().Stop(s.why, s.words)
	defer release()
	if ended > 0 {
		// What was written in them to the last moment counts too.
		now, client, a, err = c.merge(ctx, s)
		a.Terminals = ended
		if err != nil || len(a.Changes) == 0 {
			return a, err
		}
	}
	return c.applyMerged(ctx, role, client, s, now, a)
}

// merge looks at the workspace and says what the step would make of it.
func (c *Computer) merge(ctx context.Context, s step) (now snapshot.Result, client *guest.Client, a Applied, err error) {
	if now, client, err = c.workspace.Scan(ctx); err != nil {
		return now, client, a, err
	}
	for _, root := range []*choir.Digest{&s.base, &s.theirs} {
		if *root, err = c.workspace.Without(ctx, *root, now.Left); err != nil {
			return now, client, a, err
		}
	}
	m, err := timeline.Merge(ctx, c.keeper, s.base, s.theirs, now.Root, c.stamp())
	if err != nil {
		return now, client, a, err
	}
	a = Applied{Difference: Difference{From: now.Root, To: m.Root, Changes: m.Changes}, Conflicts: m.Conflicts}
	if len(m.Conflicts) > 0 {
		err = conflictsError(m.Conflicts)
	}
	return now, client, a, err
}

// stamp is the time now as a merge writes it, whole milliseconds.
func (c *Computer) stamp() snapshot.Stamp {
	at := c.cfg.Now()
	return snapshot.Stamp{Sec: at.Unix(), Nsec: uint32(at.Nanosecond() / int(time.Millisecond) * int(time.Millisecond))}
}

func (c *Computer) applyMerged(ctx context.Context, role choir.Role, client *guest.Client, s step, now snapshot.Result, a Applied) (Applied, error) {
	// What nobody recorded yet is recorded first, so that this can be undone.
	if err := c.workspace.RecordOwners(ctx, now); err != nil {
		return a, err
	}
	a.BackSeq, _ = c.store.Head()
	done, err := c.events.Draft(s.record(now.Root, a.To, countShown(a.Changes)))
	if err == nil {
		a.Receipt, err = c.workspace.CarryOut(ctx, client, workspace.Intent{Before: now.Root, Target: a.To, Reason: s.reason, Role: role, Draft: done})
	}
	return a, err
}

// maxNamed is how many conflicting paths the error names.
const maxNamed = 3

func conflictsError(all []timeline.Conflict) error {
	var names []string
	for _, c := range all[:min(len(all), maxNamed)] {
		names = append(names, c.Path)
	}
	if more := len(all) - len(names); more > 0 {
		names = append(names, "and more")
	}
	return choir.E("computer.apply", choir.CodeConflict, "%d paths were changed differently since: %s", len(all), strings.Join(names, ", ")).
		WithRemedy("nothing was changed; rewind to the moment before it, or change these paths by hand")
}
