package desk

import (
	"context"
	"slices"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/computer/desk/drafts"
)

// unsaved is the part of a Desk for drafts.
type unsaved struct {
	store    *drafts.Store
	readOnly bool
	changed  func(drafts.Draft)
}

// Drafts returns all drafts, without their texts.
func (u *unsaved) Drafts(ctx context.Context) ([]drafts.Draft, error) {
	if err := u.mustRun(); err != nil {
		return nil, err
	}
	return u.store.List(ctx)
}

// Draft returns the draft of an app about a subject. Code not_found: there is none.
func (u *unsaved) Draft(ctx context.Context, app, subject string) (drafts.Draft, error) {
	if err := u.mustRun(); err != nil {
		return drafts.Draft{}, err
	}
	return u.store.Get(ctx, app, subject)
}

// KeepDraft stores a text that is based on revision made of the draft, tells the pages, and
// returns the draft. Code conflict, with the stored draft: see drafts.Store.Put.
func (u *unsaved) KeepDraft(ctx context.Context, d drafts.Draft, made int64) (drafts.Draft, error) {
	if err := u.mustRun(); err != nil {
		return drafts.Draft{}, err
	}
	if err := checkApp(d.App); err != nil {
		return drafts.Draft{}, err
	}
	if err := checkLine("subject", d.Subject); err != nil {
		return drafts.Draft{}, err
	}
	now, err := u.store.Put(ctx, d, made)
	if err == nil {
		u.changed(now)
	}
	return now, err
}

// DropDraft removes a draft with the given revision and tells the pages. Code conflict, with
// the stored draft: it has another revision.
func (u *unsaved) DropDraft(ctx context.Context, app, subject string, revision int64) (drafts.Draft, error) {
	if err := u.mustRun(); err != nil {
		return drafts.Draft{}, err
	}
	now, dropped, err := u.store.Drop(ctx, app, subject, revision)
	if dropped {
		u.changed(drafts.Draft{App: app, Subject: subject})
	}
	return now, err
}

// The apps of the drafts that are typed into the card of a run: the subject of a reply is the
// run, that of an answer the run and, after a space, the question.
const (
	ReplyDraft  = "reply"
	AnswerDraft = "answer"
)

// DropCardDrafts removes the drafts of the given apps that were typed into the card of a run,
// and tells the pages: the card no longer takes them.
func (u *unsaved) DropCardDrafts(ctx context.Context, run choir.ID, apps ...string) error {
	list, err := u.Drafts(ctx)
	if err != nil {
		return err
	}
	for _, d := range list {
		if of, _, _ := strings.Cut(d.Subject, " "); of != string(run) || !slices.Contains(apps, d.App) {
			continue
		}
		_, err := u.DropDraft(ctx, d.App, d.Subject, d.Revision)
		for choir.CodeOf(err) == choir.CodeConflict { // somebody types
			d, err = u.Draft(ctx, d.App, d.Subject)
			if err == nil {
				_, err = u.DropDraft(ctx, d.App, d.Subject, d.Revision)
			}
		}
		if err != nil && choir.CodeOf(err) != choir.CodeNotFound {
			return err
		}
	}
	return nil
}

// mustRun returns an error with code unavailable if the computer is open for reading only.
func (u *unsaved) mustRun() error {
	if u.readOnly {
		return choir.Refuse("computer", choir.ReasonComputerNotRunning)
	}
	return nil
}
