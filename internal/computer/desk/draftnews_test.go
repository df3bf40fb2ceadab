package desk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"choiros/internal/computer/desk/drafts"
)

// stubDraftPost hands on what is told.
type stubDraftPost struct {
	told   chan drafts.Draft
	err    error
	closed bool
}

func (p *stubDraftPost) TellDraft(d drafts.Draft) error {
	p.told <- d
	return p.err
}

func (p *stubDraftPost) Close() { p.closed = true }

func TestPagesAreToldOfDraftsThatChangedBeforeTheyCouldBe(t *testing.T) {
	t.Parallel()
	post := &stubDraftPost{told: make(chan drafts.Draft, 1)}
	news := NewDraftNews("c", func() (DraftPost, error) { return post, nil }, slog.New(slog.DiscardHandler))
	news.Enqueue(drafts.Draft{App: "text", Subject: "a", Revision: 3, Text: "private"})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- news.Serve(ctx) }()
	if got := <-post.told; got != (drafts.Draft{App: "text", Subject: "a", Revision: 3}) {
		t.Errorf("told is %+v", got)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) || !post.closed {
		t.Errorf("%v; the post is closed: %t", err, post.closed)
	}
}

func TestNewsOfDraftsEndWithThePost(t *testing.T) {
	t.Parallel()
	gone := errors.New("the bus is gone")
	post := &stubDraftPost{told: make(chan drafts.Draft, 1), err: gone}
	news := NewDraftNews("c", func() (DraftPost, error) { return post, nil }, slog.New(slog.DiscardHandler))
	news.Enqueue(drafts.Draft{App: "text"})
	if err := news.Serve(t.Context()); !errors.Is(err, gone) || !post.closed {
		t.Errorf("%v; the post is closed: %t", err, post.closed)
	}
}

// TestTypingNeverWaitsForTheBus changes more drafts than the news hold while nobody serves
// them.
func TestTypingNeverWaitsForTheBus(t *testing.T) {
	t.Parallel()
	var logged bytes.Buffer
	news := NewDraftNews("c", nil, slog.New(slog.NewTextHandler(&logged, nil)))
	for i := range maxDraftNews + 2 {
		news.Enqueue(drafts.Draft{App: "text", Subject: fmt.Sprint(i)})
	}
	if n := strings.Count(logged.String(), "too many changed at once"); n != 2 {
		t.Errorf("%d news are said to be dropped", n)
	}
}
