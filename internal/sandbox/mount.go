package sandbox

import (
	"path/filepath"
	"slices"
	"strings"

	"choiros/internal/choir"
)

// MountKind is the kind of a mount: the workspace, or a folder of the host.
type MountKind string

// The kinds.
const (
	// MountWorkspace is the computer's workspace, writable, at WorkspaceInside.
	MountWorkspace MountKind = "workspace"
	// MountArtifacts is a folder of the host with artifacts, always read-only.
	MountArtifacts MountKind = "artifacts"
	// MountHost is a folder of the host.
	MountHost MountKind = "host"
)

// Transport is the way in which a sandbox gets its workspace.
type Transport string

// The transports.
const (
	// TransportBind binds a folder of the host: what one side writes the other sees.
	TransportBind Transport = "bind"
	// TransportVirtiofs is TransportBind through a virtual machine's file system.
	TransportVirtiofs Transport = "virtiofs"
	// TransportCopy is a folder of the driver's own, empty at first, which ends with the
	// sandbox. The caller fills it and fetches it over choir-init.
	TransportCopy Transport = "copy"
)

// Mount is one folder that a sandbox has in addition to the folders of every sandbox.
type Mount struct {
	Kind MountKind `json:"kind"`
	// Folder is the folder of the host, as an absolute path. It is empty for a workspace
	// that is copied.
	Folder string `json:"folder,omitempty"`
	// Target is the path inside: WorkspaceInside, or one name below MountsInside.
	Target    string    `json:"target"`
	ReadOnly  bool      `json:"read_only,omitempty"`
	Transport Transport `json:"transport,omitempty"` // of a workspace
}

// Workspace returns the mount of a workspace in the host's folder; the folder is ignored
// for TransportCopy, which needs none.
func Workspace(folder string, t Transport) Mount {
	if t == TransportCopy {
		folder = ""
	}
	return Mount{Kind: MountWorkspace, Folder: folder, Target: WorkspaceInside, Transport: t}
}

// Capabilities describes what the sandboxes of a driver can have.
type Capabilities struct {
	// Transports are the ways in which a sandbox can get a workspace, the best first.
	Transports []Transport
	// Mounts says that folders of the host can be mounted: MountHost, MountArtifacts.
	Mounts bool
	// Streams says that Dial may be called any number of times at once; without it one
	// stream is open at a time. Separate streams are faster in bulk, see ARCHITECTURE.
	Streams bool
	// Prestart says that a sandbox may be started before it is needed. It is false where a
	// sandbox that waits costs money.
	Prestart bool
}

// Workspace returns the mount of the workspace; ok is false for a sandbox without one.
func (s Spec) Workspace() (m Mount, ok bool) {
	i := slices.IndexFunc(s.Mounts, func(m Mount) bool { return m.Kind == MountWorkspace })
	if i < 0 {
		return Mount{}, false
	}
	return s.Mounts[i], true
}

// WorkspaceFolder returns the folder of the workspace on the host; empty without a
// workspace, and for a copied one.
func (s Spec) WorkspaceFolder() string {
	m, _ := s.Workspace()
	return m.Folder
}

// Check returns code invalid, with the name of the field, for a spec that no driver can
// satisfy, and code unavailable for a spec that a driver with the capabilities c cannot
// satisfy.
func (s Spec) Check(c Capabilities) error {
	if !s.Computer.Valid() {
		return choir.Invalid("spec.computer", "%q is no id", s.Computer)
	}
	for _, p := range []struct{ field, path string }{{"doors", s.Doors}, {"guest", s.Guest}} {
		if !filepath.IsAbs(p.path) {
			return choir.Invalid("spec."+p.field, "%q is not an absolute path", p.path)
		}
	}
	seen := map[string]bool{}
	for _, m := range s.Mounts {
		if err := m.check(); err != nil {
			return choir.Under("spec.mounts", err)
		}
		if seen[m.Target] {
			return choir.Invalid("spec.mounts.target", "%q is the target of two mounts", m.Target)
		}
		seen[m.Target] = true
		if err := m.allowed(c); err != nil {
			return err
		}
	}
	return nil
}

// check returns code invalid for a mount whose fields contradict each other or the rules
// of its kind.
func (m Mount) check() error {
	copied := m.Kind == MountWorkspace && m.Transport == TransportCopy
	switch {
	case !slices.Contains([]MountKind{MountWorkspace, MountArtifacts, MountHost}, m.Kind):
		return choir.Invalid("kind", "%q is no kind of mount", m.Kind)
	case copied && m.Folder != "":
		return choir.Invalid("folder", "%q: a workspace that is copied has no folder of the host", m.Folder)
	case !copied && !filepath.IsAbs(m.Folder):
		return choir.Invalid("folder", "%q is not an absolute path", m.Folder)
	}
	if m.Kind == MountWorkspace {
		return m.checkWorkspace()
	}
	dir, name := filepath.Split(m.Target)
	switch {
	case dir != MountsInside+"/" || name == "" || strings.HasPrefix(name, "."):
		return choir.Invalid("target", "%q is not one name below %s", m.Target, MountsInside)
	case m.Transport != "":
		return choir.Invalid("transport", "%q is for workspaces only", m.Transport)
	case m.Kind == MountArtifacts && !m.ReadOnly:
		return choir.Invalid("read_only", "artifacts are read-only inside")
	}
	return nil
}

func (m Mount) checkWorkspace() error {
	switch {
	case m.Target != WorkspaceInside:
		return choir.Invalid("target", "%q: a workspace is at %s", m.Target, WorkspaceInside)
	case m.ReadOnly:
		return choir.Invalid("read_only", "a workspace is writable")
	case !slices.Contains([]Transport{TransportBind, TransportVirtiofs, TransportCopy}, m.Transport):
		return choir.Invalid("transport", "%q is no transport", m.Transport)
	}
	return nil
}

// allowed returns code unavailable for a mount that a driver with the capabilities c
// cannot provide.
func (m Mount) allowed(c Capabilities) error {
	switch {
	case m.Kind != MountWorkspace && !c.Mounts:
		return choir.Refuse("sandbox.check", choir.ReasonDriverMountsNone, choir.TextOf("path", m.Folder))
	case m.Kind == MountWorkspace && !slices.Contains(c.Transports, m.Transport):
		return choir.Refuse("sandbox.check", choir.ReasonDriverNoTransport, choir.TextOf("given", m.Transport), choir.TextOf("names", c.Transports))
	}
	return nil
}
