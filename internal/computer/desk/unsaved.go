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

// Drafts lists what is typed and not saved, without the texts.
func (u *unsaved) Drafts(ctx context.Context) ([]drafts.Draft, error) {
	if err := u.mustRun(); err != nil {
		return nil, err
	}
	return u.store.List(ctx)
}

// Draft returns one draft. Code not_found when there is none.
func (u *unsaved) Draft(ctx context.Context, app, subject string) (drafts.Draft, error) {
	if err := u.mustRun(); err != nil {
		return drafts.Draft{}, err
	}
	return u.store.Get(ctx, app, subject)
}

// KeepDraft keeps a text that was made of the draft with the revision made, and
// tells the pages. Code conflict as of drafts.Store.Put, with the draft that is
// there.
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

// DropDraft removes a draft that was saved or discarded, and tells the pages.
// Code conflict when it changed meanwhile, with the draft that is there.
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

// mustRun refuses drafts of a computer that was opened for reading only.
func (u *unsaved) mustRun() error {
	if u.readOnly {
		return choir.E("computer", choir.CodeUnavailable, "the computer does not run").WithRemedy("start it with: choir up")
	}
	return nil
}
