package desk

import (
	"context"
	"log/slog"

	"choiros/internal/choir"
	"choiros/internal/computer/desk/drafts"
)

// maxDraftNews bounds the news that wait for the pages. Pages read the drafts they show
// again when they connect, so news beyond the bound are dropped.
const maxDraftNews = 256

// DraftPost carries news of drafts to the pages.
type DraftPost interface {
	// TellDraft sends application, subject and revision of a draft that changed. Whoever
	// does not listen misses it.
	TellDraft(d drafts.Draft) error
	Close()
}

// DraftNews tells the pages of one computer which drafts changed. It is a service.
type DraftNews struct {
	computer choir.ID
	openPost func() (DraftPost, error)
	logger   *slog.Logger
	changed  chan drafts.Draft
}

// NewDraftNews makes the news of a computer's drafts. openPost opens the post to the pages,
// which is closed again; the logger is told under the computer's name of news that are
// dropped.
func NewDraftNews(computer choir.ID, openPost func() (DraftPost, error), logger *slog.Logger) *DraftNews {
	return &DraftNews{computer: computer, openPost: openPost, logger: logger, changed: make(chan drafts.Draft, maxDraftNews)}
}

// String names the service.
func (n *DraftNews) String() string { return "news of drafts" }

// Enqueue hands a draft that changed to Serve, and never waits.
func (n *DraftNews) Enqueue(d drafts.Draft) {
	select {
	case n.changed <- drafts.Draft{App: d.App, Subject: d.Subject, Revision: d.Revision}:
	default:
		n.logger.Warn("pages are not told of a draft: too many changed at once", "computer", n.computer)
	}
}

// Serve sends the changes to the pages until the context ends.
func (n *DraftNews) Serve(ctx context.Context) error {
	post, err := n.openPost()
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
