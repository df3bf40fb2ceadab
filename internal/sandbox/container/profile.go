package container

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/mount"
	"github.com/moby/moby/client"

	"choiros/internal/sandbox"
	"choiros/internal/sandbox/host"
)

// doorInside is the folder inside in which choir-init finds the socket that hands it the
// control door. It is empty once choir-init runs.
const doorInside = sandbox.MountsInside + "/choir-door"

// tmpSize and the following constants are the sizes of the folders in memory, as mount takes them.
// Their pages count as memory of the sandbox.
const (
	tmpSize       = "2g"
	homeSize      = "1g"
	workspaceSize = "2g" // of a workspace that is copied
)

// diagnosticBytes is the most that is read of a container's output.
const diagnosticBytes = 16 << 10

// logBytes is the size at which the engine begins the output of a container anew.
const logBytes = "64k"

// enterScript covers what an engine shows of the host, makes the folders that belong to the
// user inside, and becomes the program in its arguments: a user without capabilities. $1 is the
// working folder, $2 the workspace if it is in memory, $3 the most files of a folder in memory. It runs as root of a user namespace,
// which is the computer's host user.
const enterScript = `set -e
mount -t tmpfs -o ro,nosuid,nodev,noexec,mode=0555,size=4k none /sys
for path in /tmp /dev/shm; do
	mount -t tmpfs -o nosuid,nodev,mode=1777,size=` + tmpSize + `,nr_inodes=$3 none $path
done
mount -t tmpfs -o nosuid,nodev,mode=0700,size=` + homeSize + `,nr_inodes=$3 none /home/choir
test -z "$2" || mount -t tmpfs -o nosuid,nodev,mode=0700,size=` + workspaceSize + `,nr_inodes=$3 none "$2"
for path in cmdline interrupts diskstats partitions modules key-users keys; do
	test ! -e /proc/$path || mount --bind /` + host.EmptyFile + ` /proc/$path
done
cd "$1"
shift 3
exec unshare --user --map-user=` + insideUser + ` --map-group=` + insideUser + ` --keep-caps -- \
	setpriv --no-new-privs --bounding-set=-all --inh-caps=-all --ambient-caps=-all -- "$@"`

// insideUser is sandbox.InsideUID, and InsideGID, as unshare takes them.
const insideUser = "1000"

// etcFiles are the files of /etc that engines write anew in each container.
var etcFiles = []string{"passwd", "group", "hosts", "hostname", "resolv.conf"}

// alwaysPoints are the mount points of every sandbox that the root folder of package host
// lacks.
var alwaysPoints = []string{"sys"}

// program is the program of a container, and the sandbox in which it runs.
type program struct {
	name string
	argv []string
	spec sandbox.Spec
	// door is the folder of the host with the socket that hands over the control door;
	// empty for none.
	door string
}

// options returns a container as the engine is asked for it.
func (m *machine) options(p program) client.ContainerCreateOptions {
	workspace, has := p.spec.Workspace()
	root, folder, memory := m.root, "/home/choir", ""
	if has {
		root, folder = m.rootWorkspace, sandbox.WorkspaceInside
	}
	if workspace.Transport == sandbox.TransportCopy {
		memory = sandbox.WorkspaceInside
	}
	limits := p.spec.Limits.OrDefaults()
	processes, files := int64(limits.Processes), int64(limits.OpenFiles)
	mostFiles := strconv.FormatInt(limits.FilesInMemory(), 10)
	return client.ContainerCreateOptions{
		Name: p.name,
		Config: &container.Config{
			Image: imageOf(root), Hostname: "choir", User: m.user(p.spec), WorkingDir: "/", NetworkDisabled: true,
			Labels:     map[string]string{ownerLabel: m.label},
			Entrypoint: []string{"/usr/bin/unshare", "--user", "--map-root-user", "--mount", "--", "/bin/sh", "-c", enterScript, "choir"},
			Cmd:        append([]string{folder, memory, mostFiles}, p.argv...),
		},
		HostConfig: &container.HostConfig{
			NetworkMode: "none", IpcMode: "private", CgroupnsMode: "private", UsernsMode: m.userns(),
			// Init answers questions for names at port 53 of loopback, and stands for hosts at others.
			Sysctls:        map[string]string{"net.ipv4.ip_unprivileged_port_start": "0"},
			OomScoreAdj:    host.VictimAlive,
			ReadonlyRootfs: true, CapDrop: []string{"ALL"}, SecurityOpt: m.engine.options,
			LogConfig: container.LogConfig{Type: "json-file", Config: map[string]string{"max-size": logBytes}},
			Tmpfs:     map[string]string{sandbox.MountsInside: "rw,nosuid,nodev,mode=0755,size=65536"},
			Mounts:    m.mounts(p, root, has),
			Resources: container.Resources{
				Memory: limits.MemoryBytes, MemorySwap: limits.MemoryBytes, NanoCPUs: int64(limits.CPUMilli) * 1e6, PidsLimit: &processes,
				Ulimits: []*container.Ulimit{
					{Name: "nofile", Soft: files, Hard: files}, {Name: "core"},
					// Podman's own are higher than those of the engine, which may not be exceeded.
					{Name: "nproc", Soft: mostProcesses, Hard: mostProcesses},
				},
			},
		},
	}
}

// mostProcesses is the limit of processes of a host user, of which the sandboxes of a
// computer are several. The cgroup limits each sandbox.
const mostProcesses = 1 << 15

// user returns the user of a container: the host user of the computer, which is the root of
// an engine that runs as that user itself.
func (m *machine) user(spec sandbox.Spec) string {
	uid := os.Geteuid()
	switch {
	case uid == 0:
		uid = spec.UID
	case m.engine.rootless:
		uid = 0
	}
	return fmt.Sprintf("%d:%d", uid, uid)
}

// userns returns the user namespace of a container: the engine's own numbers, also where it
// maps those of other containers.
func (m *machine) userns() container.UsernsMode {
	if m.engine.rootless {
		return ""
	}
	return "host"
}

func (m *machine) mounts(p program, root string, workspace bool) []mount.Mount {
	mounts := []mount.Mount{bound("/usr", "/usr", true)}
	for _, name := range host.SystemFolders {
		if info, err := os.Lstat("/" + name); err == nil && info.IsDir() {
			mounts = append(mounts, bound("/"+name, "/"+name, true))
		}
	}
	for _, name := range etcFiles {
		mounts = append(mounts, bound(filepath.Join(root, "etc", name), "/etc/"+name, true))
	}
	if p.door != "" {
		mounts = append(mounts, bound(p.spec.Guest, sandbox.GuestInside, true), bound(p.door, doorInside, true))
	}
	for _, folder := range p.spec.Mounts {
		if folder.Transport != sandbox.TransportCopy {
			mounts = append(mounts, bound(folder.Folder, folder.Target, folder.ReadOnly))
		}
	}
	if !workspace {
		return mounts
	}
	for _, path := range m.cfg.Toolchains {
		if !strings.HasPrefix(path, "/usr/") {
			mounts = append(mounts, bound(path, path, true))
		}
	}
	if m.cfg.Modules != "" {
		mounts = append(mounts, bound(m.cfg.Modules, host.ModulesInside, true))
	}
	return mounts
}

func bound(source, target string, readOnly bool) mount.Mount {
	return mount.Mount{Type: mount.TypeBind, Source: source, Target: target, ReadOnly: readOnly}
}

// initArgs returns choir-init and its arguments.
func (m *machine) initArgs(spec sandbox.Spec) []string {
	args := append(host.InitArgs(spec, m.cfg.Toolchains, m.cfg.Orphan), host.LandlockArgs(spec)...)
	return append(args, "--seccomp", m.filter, "--door", filepath.Join(doorInside, sandbox.ControlSocket))
}
