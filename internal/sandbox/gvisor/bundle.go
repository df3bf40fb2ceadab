package gvisor

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/host"
)

// The parts of an OCI bundle's config.json that are used here, see
// https://github.com/opencontainers/runtime-spec/blob/main/config.md.
type (
	ociSpec struct {
		Version     string            `json:"ociVersion"`
		Process     ociProcess        `json:"process"`
		Root        ociRoot           `json:"root"`
		Hostname    string            `json:"hostname"`
		Mounts      []ociMount        `json:"mounts"`
		Linux       ociLinux          `json:"linux"`
		Annotations map[string]string `json:"annotations,omitempty"`
	}
	ociProcess struct {
		User            ociUser  `json:"user"`
		Args            []string `json:"args"`
		Env             []string `json:"env,omitempty"`
		Cwd             string   `json:"cwd"`
		Capabilities    ociCaps  `json:"capabilities"`
		NoNewPrivileges bool     `json:"noNewPrivileges"`
	}
	ociUser struct {
		UID int `json:"uid"`
		GID int `json:"gid"`
	}
	ociCaps struct {
		Bounding  []string `json:"bounding"`
		Effective []string `json:"effective"`
		Permitted []string `json:"permitted"`
	}
	ociRoot struct {
		Path     string `json:"path"`
		Readonly bool   `json:"readonly"`
	}
	ociMount struct {
		Destination string   `json:"destination"`
		Type        string   `json:"type"`
		Source      string   `json:"source,omitempty"`
		Options     []string `json:"options,omitempty"`
	}
	ociLinux struct {
		Namespaces  []ociNamespace `json:"namespaces"`
		UIDMappings []ociIDs       `json:"uidMappings"`
		GIDMappings []ociIDs       `json:"gidMappings"`
	}
	ociNamespace struct {
		Type string `json:"type"`
	}
	ociIDs struct {
		Inside int `json:"containerID"`
		Host   int `json:"hostID"`
		Size   int `json:"size"`
	}
)

// tmpBytes and the following constants are the sizes of the folders in memory. Their
// pages also count as memory of the sandbox.
const (
	tmpBytes  = 2 << 30
	homeBytes = 1 << 30
	// workspaceBytes is for a workspace that is copied.
	workspaceBytes = 2 << 30
)

// writeBundle writes config.json for a spec into the folder dir.
func (m *machine) writeBundle(dir, root string, spec sandbox.Spec) error {
	raw, err := json.Marshal(m.bundle(root, spec))
	if err != nil {
		return choir.Wrap("gvisor.create", choir.CodeInternal, err, "write down a sandbox")
	}
	err = os.WriteFile(filepath.Join(dir, "config.json"), raw, 0o600)
	return choir.Wrap("gvisor.create", choir.CodeUnavailable, err, "write the bundle of a sandbox")
}

// startEnv is the environment of init, which its programs do not inherit. Each thread of it, and each
// file that the runtime looks for limits in, takes the sentry some of the time of a start; there are
// no limits to be found. Init uses all processors when it has started, see choir-init.
var startEnv = []string{"GOMAXPROCS=1", "GODEBUG=containermaxprocs=0,updatemaxprocs=0"}

// bundle returns the bundle of a sandbox over a root folder. Init begins as root of the sandbox,
// because that alone may set the limit of processes, and gives it up before it serves.
func (m *machine) bundle(root string, spec sandbox.Spec) ociSpec {
	caps := []string{"CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP", "CAP_SYS_ADMIN"}
	ids := []ociIDs{{0, 0, 1}, {sandbox.InsideUID, spec.UID, 1}}
	return ociSpec{
		Version: "1.0.2", Hostname: "choir",
		Process: ociProcess{
			Args: m.initArgs(spec), Env: startEnv, Cwd: "/", NoNewPrivileges: true,
			Capabilities: ociCaps{Bounding: caps, Effective: caps, Permitted: caps},
		},
		Root:   ociRoot{Path: root, Readonly: true},
		Mounts: m.mounts(spec),
		Linux: ociLinux{
			Namespaces: []ociNamespace{{"pid"}, {"network"}, {"ipc"}, {"uts"}, {"mount"}, {"user"}},
			// Root is for what belongs to the system, which is read-only.
			UIDMappings: ids, GIDMappings: ids,
		},
		Annotations: sharedMounts(spec),
	}
}

// sharedMounts returns the annotations that make the sentry ask the gofer each time about
// files that the host may change: those of the spec's mounts. What belongs to the system is
// remembered (--file-access-mounts=exclusive): a file that the host replaces is seen as it
// was.
func sharedMounts(spec sandbox.Spec) map[string]string {
	out := map[string]string{}
	for i, m := range spec.Mounts {
		if m.Folder == "" {
			continue
		}
		for key, value := range map[string]string{"source": m.Folder, "type": "bind", "share": "shared"} {
			out[fmt.Sprintf("dev.gvisor.spec.mount.m%d.%s", i, key)] = value
		}
	}
	return out
}

func (m *machine) mounts(spec sandbox.Spec) []ociMount {
	mounts := []ociMount{
		{"/proc", "proc", "proc", nil},
		// The sentry's own cgroups: init limits the processes by them, and covers them.
		{"/sys", "tmpfs", "tmpfs", []string{"mode=0755", "size=64k"}},
		{"/sys/fs/cgroup", "cgroup", "cgroup", nil},
		bound("/usr", "/usr", true),
	}
	for _, name := range host.SystemFolders {
		if info, err := os.Lstat("/" + name); err == nil && info.IsDir() {
			mounts = append(mounts, bound("/"+name, "/"+name, true))
		}
	}
	mounts = append(mounts,
		inMemory("/tmp", "1777", tmpBytes, 0), inMemory("/home/choir", "0700", homeBytes, sandbox.InsideUID),
		inMemory("/dev/shm", "1777", tmpBytes, 0))
	// Each mount takes the sentry and the gofer some milliseconds of the start.
	if slices.ContainsFunc(spec.Mounts, func(m sandbox.Mount) bool { return m.Kind != sandbox.MountWorkspace }) {
		mounts = append(mounts, inMemory(sandbox.MountsInside, "0755", 64<<10, 0))
	}
	for _, mount := range spec.Mounts {
		if mount.Transport == sandbox.TransportCopy {
			mounts = append(mounts, inMemory(mount.Target, "0700", workspaceBytes, sandbox.InsideUID))
		} else {
			mounts = append(mounts, bound(mount.Folder, mount.Target, mount.ReadOnly))
		}
	}
	if _, has := spec.Workspace(); has {
		for _, path := range m.cfg.Toolchains {
			if !strings.HasPrefix(path, "/usr/") {
				mounts = append(mounts, bound(path, path, true))
			}
		}
		if m.cfg.Modules != "" {
			mounts = append(mounts, bound(m.cfg.Modules, host.ModulesInside, true))
		}
	}
	return mounts
}

func bound(source, target string, readOnly bool) ociMount {
	mode := "rw"
	if readOnly {
		mode = "ro"
	}
	return ociMount{target, "bind", source, []string{"rbind", mode, "nosuid", "nodev"}}
}

func inMemory(target, mode string, bytes, owner int) ociMount {
	o := strconv.Itoa(owner)
	return ociMount{target, "tmpfs", "tmpfs", []string{
		"nosuid", "nodev", "mode=" + mode, "size=" + strconv.Itoa(bytes), "uid=" + o, "gid=" + o,
	}}
}

func (m *machine) initArgs(spec sandbox.Spec) []string {
	return append(host.InitArgs(spec, m.cfg.Toolchains, m.cfg.Orphan),
		"--joined", "--cgroup-processes", strconv.Itoa(spec.Limits.Processes), "--seccomp", m.filter)
}
