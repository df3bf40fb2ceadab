package copies

import (
	"context"

	"choiros/internal/choir"
	"choiros/internal/timeline"
)

// maxListed is how many paths an event lists at most.
const maxListed = 256

// Export is a computer that is ready to be exported. Collections are refused until
// Close.
type Export struct {
	*timeline.Export
	done func()
}

// Close permits collections again; it may be called repeatedly.
func (e *Export) Close() { e.done() }

// PrepareExport returns the computer's log up to now and the content that the log
// refers to, ready to be written. It first records unrecorded changes if the sandbox
// runs. The caller closes the Export.
func (c *Copier) PrepareExport(ctx context.Context) (*Export, error) {
	done := c.collections.Refuse()
	e, err := c.prepareExport(ctx)
	if err != nil {
		done()
		return nil, err
	}
	return &Export{e, done}, nil
}

func (c *Copier) prepareExport(ctx context.Context) (*timeline.Export, error) {
	p, err := c.FindFork(ctx, 0)
	if err != nil {
		return nil, err
	}
	reached, err := c.reach(ctx, p)
	if err != nil {
		return nil, err
	}
	e, err := c.log.At(ctx, p.Seq)
	if err != nil {
		return nil, err
	}
	head := timeline.Head{Computer: e.Computer, Name: c.cfg.Name, Seq: p.Seq, Hash: p.Hash, Workspace: p.Snapshot}
	return timeline.NewExport(ctx, c.log, c.blobs, head, reached)
}

// Exported appends the event that the computer was exported.
func (c *Copier) Exported(ctx context.Context, role choir.Role, e *Export) error {
	var paths []string
	for _, w := range e.Archive.Withheld {
		if len(paths) < maxListed && (len(paths) == 0 || paths[len(paths)-1] != w.Path) {
			paths = append(paths, w.Path)
		}
	}
	_, err := c.events.Append(ctx, role, choir.ComputerExported{Seq: e.Archive.Seq, Archive: e.Digest, Withheld: paths})
	return err
}
