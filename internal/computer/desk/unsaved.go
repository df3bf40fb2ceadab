package desk

import (
	"context"

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

// mustRun returns an error with code unavailable if the computer is open for reading only.
func (u *unsaved) mustRun() error {
	if u.readOnly {
		return choir.Refuse("computer", choir.ReasonComputerNotRunning)
	}
	return nil
}
