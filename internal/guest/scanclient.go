package guest

import (
	"context"

	"choiros/internal/choir"
	"choiros/internal/snapshot"
)

// maxStandstill is the number of rounds of requests that may bring no object, because
// files change faster than they can be sent.
const maxStandstill = 8

// Scan takes a snapshot of the workspace and stores it in the keeper. When it returns the
// snapshot is durable and complete; Files and Bytes are counted by the keeper.
//
// Errors: forbidden for a path that init cannot read; conflict if the workspace changes
// faster than it can be read; invalid, too_large or corrupt for a tree that breaks the
// rules, of which nothing is stored.
func (c *Client) Scan(ctx context.Context, keeper *snapshot.Keeper) (snapshot.Result, error) {
	return c.ScanOnly(ctx, keeper, nil)
}

// ScanOnly takes a snapshot as Scan does, but scans only the given folders (escaped
// paths) and assumes the rest to be as in the last scan; an empty list means everything.
func (c *Client) ScanOnly(ctx context.Context, keeper *snapshot.Keeper, only []string) (snapshot.Result, error) {
	return c.scan(ctx, keeper, &request{Op: opScan, Only: only})
}

// ScanWorktree takes a snapshot of a worktree as Scan does: of the folder of that name
// below Config.Worktrees, which somebody else makes and removes. Code not_found: there is none.
func (c *Client) ScanWorktree(ctx context.Context, keeper *snapshot.Keeper, worktree choir.ID) (snapshot.Result, error) {
	return c.scan(ctx, keeper, &request{Op: opScan, Worktree: worktree})
}

// scan takes the snapshot that a request asks for.
func (c *Client) scan(ctx context.Context, keeper *snapshot.Keeper, r *request) (snapshot.Result, error) {
	s, err := c.open(ctx, c.limited(r))
	if err != nil {
		return snapshot.Result{}, err
	}
	defer s.close()
	in, err := keeper.NewIntake(ctx)
	if err != nil {
		return snapshot.Result{}, err
	}
	defer in.Discard()
	f := &intakeFeed{session: s, client: c, in: in, free: pushBudget}
	if err := f.complete(ctx); err != nil {
		return snapshot.Result{}, s.fail(opScan, err)
	}
	f.result.Files, f.result.Bytes, err = in.Commit(ctx, f.result.Root)
	return f.result, err
}

// intakeFeed passes the objects of a guest to an intake.
type intakeFeed struct {
	*session
	client     *Client
	in         *snapshot.Intake
	refused    []choir.Digest // objects that there is no room for
	rounds     int            // in which some were refused
	asked      map[choir.Digest]bool
	free       int64 // bytes that may still come unasked
	got        int   // objects that came since the last question
	standstill int
	result     snapshot.Result
}

// complete receives and requests objects until the intake has the whole tree.
func (f *intakeFeed) complete(ctx context.Context) error {
	for {
		t, payload, err := f.read()
		if err != nil {
			return err
		}
		switch t {
		case frameObject:
			err = f.object(ctx, payload)
		case frameRoot:
			if err = f.root(payload); err == nil {
				err = f.ask(ctx)
			}
		case frameEnd:
			err = f.ask(ctx)
		case frameAt:
			err = f.client.passProgress(payload)
		default:
			err = unexpected(t, payload)
		}
		if err == errComplete {
			return f.write(frameEnd, nil)
		}
		if err != nil {
			return err
		}
	}
}

var errComplete = choir.E("guest.scan", choir.CodeInternal, "complete")

func (f *intakeFeed) root(payload []byte) error {
	var r scanReply
	if err := choir.DecodeStrict(payload, &r); err != nil {
		return choir.Under("root", err)
	}
	f.result.Root, f.result.Left, f.result.Over, f.result.Skipped, f.result.Unstable = r.Root, r.Left, r.Over, r.Skipped, r.Unstable
	f.result.Hashed += r.Hashed
	return nil
}

// object adds a received object to the intake. An object that was not requested is code
// invalid unless it fits into pushBudget.
func (f *intakeFeed) object(ctx context.Context, payload []byte) error {
	o, err := f.readObject(payload)
	if err != nil {
		return err
	}
	if !f.asked[o.Digest] {
		if f.free -= o.Size; f.free < 0 {
			return choir.Invalid("object", "%s was not asked for", o.Digest)
		}
	}
	f.got++
	err = f.in.Add(ctx, o)
	switch {
	case err == nil:
	case o.Open != nil && brokenOff(err):
		f.got-- // it changed while it was sent; it will be asked for again
		return nil
	case choir.CodeOf(err) == choir.CodeNoSpace && !o.Manifest:
		f.refused = append(f.refused, o.Digest)
		return nil
	}
	return err
}

// maxRefusals is the number of rounds in which contents may be refused for lack of room;
// each round leaves some paths out.
const maxRefusals = 100

// requestLeaveOut tells init to leave out the paths whose contents there is no room for.
// After maxRefusals rounds the error is code no_space.
func (f *intakeFeed) requestLeaveOut() error {
	if f.rounds++; f.rounds > maxRefusals {
		return choir.E("guest.scan", choir.CodeNoSpace, "the disk is full").WithRemedy("free some space and try again")
	}
	raw, err := appendDigests(f.refused[:min(len(f.refused), maxNeed)])
	if err != nil {
		return err
	}
	f.refused, f.asked, f.got, f.free = nil, nil, 0, pushBudget
	return f.write(frameLeave, raw)
}

// ask requests the objects that the tree still lacks. It returns errComplete if there are
// none.
func (f *intakeFeed) ask(ctx context.Context) error {
	if f.result.Root == "" {
		return choir.Invalid("root", "did not come")
	}
	need, err := f.in.Need(ctx, f.result.Root, maxNeed)
	if err != nil {
		return err
	}
	for _, d := range need {
		if f.in.Fits(d) != nil {
			f.refused = append(f.refused, d)
		}
	}
	if len(f.refused) > 0 {
		return f.requestLeaveOut()
	}
	if len(need) == 0 {
		return errComplete
	}
	if f.asked != nil && f.got == 0 {
		f.standstill++
	}
	if f.standstill > maxStandstill {
		return choir.E("guest.scan", choir.CodeConflict, "files change faster than they can be read").
			WithRemedy("stop what writes to the workspace and try again")
	}
	f.asked, f.got, f.free = map[choir.Digest]bool{}, 0, pushBudget
	for _, d := range need {
		f.asked[d] = true
	}
	raw, err := appendDigests(need)
	if err != nil {
		return err
	}
	return f.write(frameNeed, raw)
}
