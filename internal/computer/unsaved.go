package computer

import (
	"context"

	"choiros/internal/bus"
	"choiros/internal/bus/hub"
	"choiros/internal/choir"
	"choiros/internal/computer/drafts"
)

// draftsFile is where the drafts lie, in the computer's folder. A fork, an export
// and a rewind leave them alone: they are no part of the log.
const draftsFile = "drafts.sqlite"

// maxDraftNews bounds the news that wait for the bus. Pages read the drafts they
// show again when they connect, so what is beyond it is told then.
const maxDraftNews = 256

// Drafts lists what is typed and not saved, without the texts.
func (c *Computer) Drafts(ctx context.Context) ([]drafts.Draft, error) {
	if err := c.mustRun(); err != nil {
		return nil, err
	}
	return c.unsaved.List(ctx)
}

// Draft gives one draft. Code not_found when there is none.
func (c *Computer) Draft(ctx context.Context, app, subject string) (drafts.Draft, error) {
	if err := c.mustRun(); err != nil {
		return drafts.Draft{}, err
	}
	return c.unsaved.Get(ctx, app, subject)
}

// KeepDraft keeps a text that was made of the draft with the revision made, and
// tells the pages. Code conflict as of drafts.Store.Put, with the draft that is
// there.
func (c *Computer) KeepDraft(ctx context.Context, d drafts.Draft, made int64) (drafts.Draft, error) {
	if err := c.mustRun(); err != nil {
		return drafts.Draft{}, err
	}
	if !appName.MatchString(d.App) {
		return drafts.Draft{}, choir.Invalid("app", "%.80q is not the name of an app: lower-case letters, digits and dash, a letter first", d.App)
	}
	if err := checkLine("subject", d.Subject); err != nil {
		return drafts.Draft{}, err
	}
	now, err := c.unsaved.Put(ctx, d, made)
	if err == nil {
		c.draftNews.enqueue(bus.DraftChanged{App: now.App, Subject: now.Subject, Revision: now.Revision})
	}
	return now, err
}

// DropDraft removes a draft that was saved or discarded, and tells the pages.
// Code conflict when it changed meanwhile, with the draft that is there.
func (c *Computer) DropDraft(ctx context.Context, app, subject string, revision int64) (drafts.Draft, error) {
	if err := c.mustRun(); err != nil {
		return drafts.Draft{}, err
	}
	now, dropped, err := c.unsaved.Drop(ctx, app, subject, revision)
	if dropped {
		c.draftNews.enqueue(bus.DraftChanged{App: app, Subject: subject})
	}
	return now, err
}

// mustRun refuses what only a computer that was opened for writing can do.
func (c *Computer) mustRun() error {
	if c.reading {
		return choir.E("computer", choir.CodeUnavailable, "the computer does not run").WithRemedy("start it with: choir up")
	}
	return nil
}

// draftNews tells the pages which drafts changed.
type draftNews struct {
	c       *Computer
	changed chan bus.DraftChanged
}

func newDraftNews(c *Computer) *draftNews {
	return &draftNews{c: c, changed: make(chan bus.DraftChanged, maxDraftNews)}
}

func (n *draftNews) String() string { return "news of drafts" }

// enqueue hands a change to Serve, and never waits.
func (n *draftNews) enqueue(d bus.DraftChanged) {
	select {
	case n.changed <- d:
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
