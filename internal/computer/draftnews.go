package computer

import (
	"context"

	"choiros/internal/bus"
	"choiros/internal/bus/hub"
	"choiros/internal/computer/desk/drafts"
)

// maxDraftNews bounds the news that wait for the bus. Pages read the drafts they
// show again when they connect, so what is beyond it is told then.
const maxDraftNews = 256

// draftNews tells the pages which drafts changed.
type draftNews struct {
	c       *Computer
	changed chan bus.DraftChanged
}

func newDraftNews(c *Computer) *draftNews {
	return &draftNews{c: c, changed: make(chan bus.DraftChanged, maxDraftNews)}
}

func (n *draftNews) String() string { return "news of drafts" }

// enqueue hands a draft that changed to Serve, and never waits.
func (n *draftNews) enqueue(d drafts.Draft) {
	select {
	case n.changed <- bus.DraftChanged{App: d.App, Subject: d.Subject, Revision: d.Revision}:
	default:
		n.c.cfg.Log.Warn("pages are not told of a draft: too many changed at once", "computer", n.c.cfg.ID)
	}
}

// Serve sends the changes to the pages until the context ends.
func (n *draftNews) Serve(ctx context.Context) error {
	post, err := hub.NewPost(n.c.cfg.Bus, n.c.cfg.User, n.c.cfg.ID)
	if err != nil {
		return err
	}
	defer post.Close()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case d := <-n.changed:
			if err := post.TellDraft(d); err != nil {
				return err
			}
		}
	}
}
