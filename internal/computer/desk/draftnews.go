package desk

import (
	"context"
	"log/slog"

	"choiros/internal/choir"
	"choiros/internal/computer/desk/drafts"
)

// maxDraftNews limits the queued news; further ones are dropped, because pages read their
// drafts again when they connect.
const maxDraftNews = 256

// DraftPost sends news of drafts to the pages.
type DraftPost interface {
	// TellDraft sends app, subject and revision of a changed draft. Pages that do not listen
	// miss it.
	TellDraft(d drafts.Draft) error
	Close()
}

// DraftNews is a service that tells the pages of one computer which drafts changed.
type DraftNews struct {
	computer choir.ID
	openPost func() (DraftPost, error)
	logger   *slog.Logger
	changed  chan drafts.Draft
}

// NewDraftNews returns the service for a computer's drafts. Serve opens the post by
// openPost and closes it. Dropped news are logged to logger.
func NewDraftNews(computer choir.ID, openPost func() (DraftPost, error), logger *slog.Logger) *DraftNews {
	return &DraftNews{computer: computer, openPost: openPost, logger: logger, changed: make(chan drafts.Draft, maxDraftNews)}
}

// String names the service.
func (n *DraftNews) String() string { return "news of drafts" }

// Enqueue queues a changed draft for Serve. It never blocks; with a full queue it drops it.
func (n *DraftNews) Enqueue(d drafts.Draft) {
	select {
	case n.changed <- drafts.Draft{App: d.App, Subject: d.Subject, Revision: d.Revision}:
	default:
		n.logger.Warn("pages are not told of a draft: too many changed at once", "computer", n.computer)
	}
}

// Serve sends the queued news until ctx ends or sending fails.
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
