package sandbox_test

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
)

// TestASpecThatCannotBeIsNamed changes one thing of a spec at a time.
func TestASpecThatCannotBeIsNamed(t *testing.T) {
	all := sandbox.Capabilities{Transports: []sandbox.Transport{sandbox.TransportBind, sandbox.TransportCopy}, Mounts: true}
	id, err := choir.NewID(1, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	good := func() sandbox.Spec {
		return sandbox.Spec{
			Computer: id, Doors: "/doors", Guest: "/guest",
			Mounts: []sandbox.Mount{
				sandbox.Workspace("/w", sandbox.TransportBind),
				{Kind: sandbox.MountArtifacts, Folder: "/a", Target: "/run/a", ReadOnly: true},
				{Kind: sandbox.MountHost, Folder: "/h", Target: "/run/h"},
			},
		}
	}
	for name, c := range map[string]struct {
		change func(*sandbox.Spec)
		can    sandbox.Capabilities
		code   choir.Code
		names  string
	}{
		"nothing":                    {func(*sandbox.Spec) {}, all, "", ""},
		"no computer":                {func(s *sandbox.Spec) { s.Computer = "x" }, all, choir.CodeInvalid, "spec.computer"},
		"doors below nothing":        {func(s *sandbox.Spec) { s.Doors = "doors" }, all, choir.CodeInvalid, "spec.doors"},
		"a kind":                     {func(s *sandbox.Spec) { s.Mounts[1].Kind = "x" }, all, choir.CodeInvalid, "spec.mounts.kind"},
		"a folder":                   {func(s *sandbox.Spec) { s.Mounts[1].Folder = "a" }, all, choir.CodeInvalid, "spec.mounts.folder"},
		"a target above":             {func(s *sandbox.Spec) { s.Mounts[1].Target = "/run/../etc" }, all, choir.CodeInvalid, "spec.mounts.target"},
		"a target that is hidden":    {func(s *sandbox.Spec) { s.Mounts[1].Target = "/run/.." }, all, choir.CodeInvalid, "spec.mounts.target"},
		"a target deeper":            {func(s *sandbox.Spec) { s.Mounts[1].Target = "/run/a/b" }, all, choir.CodeInvalid, "spec.mounts.target"},
		"one target twice":           {func(s *sandbox.Spec) { s.Mounts[1].Target = "/run/h" }, all, choir.CodeInvalid, "spec.mounts.target"},
		"two workspaces":             {func(s *sandbox.Spec) { s.Mounts[1] = s.Mounts[0] }, all, choir.CodeInvalid, "spec.mounts.target"},
		"artifacts to be written to": {func(s *sandbox.Spec) { s.Mounts[1].ReadOnly = false }, all, choir.CodeInvalid, "spec.mounts.read_only"},
		"a workspace not to be":      {func(s *sandbox.Spec) { s.Mounts[0].ReadOnly = true }, all, choir.CodeInvalid, "spec.mounts.read_only"},
		"a transport":                {func(s *sandbox.Spec) { s.Mounts[0].Transport = "" }, all, choir.CodeInvalid, "spec.mounts.transport"},
		"a transport of a folder":    {func(s *sandbox.Spec) { s.Mounts[2].Transport = sandbox.TransportBind }, all, choir.CodeInvalid, "spec.mounts.transport"},
		"a copy with a folder":       {func(s *sandbox.Spec) { s.Mounts[0].Transport = sandbox.TransportCopy }, all, choir.CodeInvalid, "spec.mounts.folder"},
		"more than it can: virtiofs": {func(s *sandbox.Spec) { s.Mounts[0].Transport = sandbox.TransportVirtiofs }, all, choir.CodeUnavailable, "virtiofs"},
		"more than it can: mounts":   {func(*sandbox.Spec) {}, sandbox.Capabilities{Transports: all.Transports}, choir.CodeUnavailable, "/a"},
	} {
		t.Run(name, func(t *testing.T) {
			spec := good()
			c.change(&spec)
			err := spec.Check(c.can)
			if choir.CodeOf(err) != c.code || err != nil && !strings.Contains(err.Error(), c.names) {
				t.Errorf("got %v, wanted code %q and %q", err, c.code, c.names)
			}
		})
	}
}

// TestOnlyTwoCodesSayMoreThanThatNobodyKnows reads errors of Recover.
func TestOnlyTwoCodesSayMoreThanThatNobodyKnows(t *testing.T) {
	for _, c := range []struct {
		err  error
		want sandbox.Verdict
	}{
		{nil, sandbox.Found},
		{choir.E("x", choir.CodeNotFound, "it has ended"), sandbox.Gone},
		{choir.E("x", choir.CodeInvalid, "another's handle"), sandbox.NotMine},
		{choir.E("x", choir.CodeUnavailable, "no way to it"), sandbox.Unknown},
		{choir.E("x", choir.CodeTimeout, "slow"), sandbox.Unknown},
		{choir.E("x", choir.CodeInternal, "too many open files"), sandbox.Unknown},
		{context.Canceled, sandbox.Unknown},
		{os.ErrNotExist, sandbox.Unknown},
		{errors.New("anything"), sandbox.Unknown},
	} {
		if got := sandbox.VerdictOf(c.err); got != c.want {
			t.Errorf("%v is %s, not %s", c.err, got, c.want)
		}
	}
}
