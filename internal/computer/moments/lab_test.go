package moments

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"choiros/internal/blob/mem"
	"choiros/internal/choir"
	"choiros/internal/computer/desk"
	"choiros/internal/computer/desk/drafts"
	"choiros/internal/computer/workspace/workspacetest"
)

// lab is the moments of a computer with a workspace and a desk, of which nothing else
// runs.
type lab struct {
	*workspacetest.Lab
	*Moments
	desk      *desk.Desk
	collected choir.Digest // a snapshot that is told to be gone
}

func newLab(t *testing.T) *lab {
	t.Helper()
	t.Parallel()
	blobs := mem.New(mem.Config{})
	l := &lab{Lab: workspacetest.New(t, blobs)}
	l.desk = desk.New(l.Log, l.Events, blobs, desk.Config{
		Themes: "themes", Drafts: filepath.Join(l.Data, "drafts.sqlite"), Now: time.Now, DraftChanged: func(drafts.Draft) {},
	})
	t.Cleanup(func() {
		if err := l.desk.Close(); err != nil {
			t.Error(err)
		}
	})
	l.Moments = New(l.Log, l.desk, l.Keeper, l.available)
	return l
}

// available is Available for a computer that has all of its past but for what was
// collected.
func (l *lab) available(_ context.Context, root choir.Digest) (choir.Digest, []string, error) {
	if root == l.collected {
		return "", nil, choir.E("lab", choir.CodeNotFound, "the snapshot was collected")
	}
	return root, nil, nil
}

// appendAsOwner appends an event as a person.
func (l *lab) appendAsOwner(p choir.Payload) {
	l.T.Helper()
	if _, err := l.Events.Append(l.Within(), choir.RoleShell, p); err != nil {
		l.T.Fatal(err)
	}
}

// must ends the test at an error.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
