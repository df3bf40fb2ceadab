package firecrackertest

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"choiros/internal/guest/machine"
	"choiros/internal/guestbin"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/host"
)

// The files of a stand-in for a machine, in the room.
const (
	guestFolder     = "stand-in"
	guestBinaries   = guestFolder + "/guest"
	guestWorkspace  = guestFolder + "/workspace"
	guestDoor       = "stand-in.door"
	bubblewrap      = "/usr/bin/bwrap"
	ext4Magic       = "\x53\xef"
	ext4MagicOffset = 1024 + 56
)

// guest runs in the place of a machine.
type guest struct {
	config machine.Config
	vsock  *vsock
	init   *exec.Cmd // nil where the machine has only a kernel, and in a jail
}

// startGuest starts the guest of a machine as its configuration says. ended is called when it
// has ended. A machine with nothing but a kernel panics at once.
func startGuest(c configured, memory []byte, silent bool, ended func()) (*guest, error) {
	if c.Boot.Initrd == "" && silent {
		return &guest{}, nil // it hangs
	}
	if c.Boot.Initrd == "" {
		fmt.Println("Kernel panic - not syncing: VFS: Unable to mount root fs on unknown-block(0,0)")
		ended()
		return &guest{}, nil
	}
	g := &guest{}
	if err := g.unpack(c, memory); err != nil {
		return nil, err
	}
	if err := g.checkDevices(c); err != nil {
		return nil, err
	}
	door, err := net.ListenUnix("unix", &net.UnixAddr{Name: guestDoor, Net: "unix"})
	if err != nil {
		return nil, err
	}
	if g.vsock, err = listenVsock(c.Vsock.Path); err != nil {
		return nil, err
	}
	if _, err := os.Stat(bubblewrap); err != nil {
		go g.serveHere(door, ended) // the program is in a jail, and so is what it runs
	} else if err := g.startInit(door, ended); err != nil {
		return nil, err
	}
	go machine.ServeStreams(g.vsock.streams, g.vsock.questions, guestDoor, g.usage)
	if silent || memory != nil { // one from a snapshot does not boot
		return g, nil
	}
	return g, g.sayReady(c.Vsock.Path)
}

// unpack reads the command line of the machine, and what the machine has in memory: of a
// snapshot, or of the initial file system.
func (g *guest) unpack(c configured, memory []byte) error {
	_, args, found := strings.Cut(c.Boot.Command, " rdinit="+machine.Init+" -- "+machine.BootArg+" ")
	if !found {
		return fmt.Errorf("the machine finds no first process, with %q", c.Boot.Command)
	}
	var err error
	if g.config, err = machine.Parse(strings.Fields(args)); err != nil {
		return err
	}
	if err := errors.Join(os.MkdirAll(guestBinaries, 0o755), os.MkdirAll(guestWorkspace, 0o700)); err != nil {
		return err
	}
	if memory != nil {
		return unpackFolder(memory, guestFolder)
	}
	return unpackInitialOf(c)
}

// unpackInitialOf writes the guest binaries in an initial file system to their folder. It must
// have what the first process of a machine needs.
func unpackInitialOf(c configured) error {
	raw, err := os.ReadFile(c.Boot.Initrd)
	if err != nil {
		return err
	}
	files, err := unpackInitial(raw)
	if err != nil {
		return err
	}
	if len(files[machine.Init[1:]]) == 0 || len(files[machine.Filter[1:]]) == 0 {
		return errors.New("the initial file system has no first process, or no filter")
	}
	for name, content := range files {
		if path, ok := strings.CutPrefix(name, machine.Guest[1:]+"/"); ok {
			if err := os.WriteFile(filepath.Join(guestBinaries, filepath.Base(path)), content, 0o755); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkDevices returns an error unless the machine has the devices that its first process
// looks for: the image is the first disk and the workspace the second.
func (g *guest) checkDevices(c configured) error {
	switch {
	case c.Machine == nil || c.Vsock == nil || !g.config.Vsock:
		return errors.New("the machine has no vsock, or no memory of its own")
	case len(c.Drives) == 0 || !c.Drives[0].ReadOnly || g.config.Workspace != (len(c.Drives) == 2):
		return fmt.Errorf("the machine has the disks %+v", c.Drives)
	}
	for i, d := range c.Drives {
		if d.Root {
			return errors.New("a machine with an initial file system has no root device")
		}
		if i == 1 {
			if err := beginsWith(d.Path, ext4MagicOffset, ext4Magic); err != nil {
				return err
			}
		}
	}
	return beginsWith(c.Drives[0].Path, 0, "hsqs")
}

// startInit starts choir-init under bubblewrap, which ends with this process.
func (g *guest) startInit(door *net.UnixListener, ended func()) error {
	f, err := door.File()
	if err != nil {
		return err
	}
	door.SetUnlinkOnClose(false)
	door.Close()
	defer f.Close()
	args := []string{
		"--die-with-parent", "--unshare-all", "--unshare-user", "--as-pid-1", "--new-session", "--clearenv",
		"--hostname", "choir", "--uid", "1000", "--gid", "1000", "--cap-drop", "ALL",
		"--ro-bind", "/usr", "/usr", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--tmpfs", "/home/choir",
		"--ro-bind", guestBinaries, sandbox.GuestInside,
	}
	for _, name := range host.SystemFolders {
		if to, err := os.Readlink("/" + name); err == nil {
			args = append(args, "--symlink", to, "/"+name)
		}
	}
	if g.config.Workspace {
		args = append(args, "--bind", guestWorkspace, sandbox.WorkspaceInside, "--chdir", sandbox.WorkspaceInside)
	}
	args = append(append(args, "--", sandbox.GuestInside+"/"+guestbin.Init), g.config.Args...)
	g.init = exec.Command(bubblewrap, args...)
	g.init.ExtraFiles, g.init.Stdout, g.init.Stderr = []*os.File{f}, os.Stdout, os.Stdout
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // with whose end bubblewrap would end
		err := g.init.Start()
		started <- err
		if err != nil {
			return
		}
		fmt.Println("choir-init: the sandbox has ended:", g.init.Wait())
		g.vsock.close()
		ended()
	}()
	return <-started
}

// stop ends the guest.
func (g *guest) stop() { g.init.Process.Kill() }

// pause stops the guest's processes, or lets them go on.
func (g *guest) pause(paused bool) {
	signal := syscall.SIGCONT
	if paused {
		signal = syscall.SIGSTOP
	}
	for _, pid := range host.Descendants(os.Getpid()) {
		if pid != os.Getpid() {
			syscall.Kill(pid, signal) // one may have ended
		}
	}
}

// usage is the answer to the question what the sandbox uses.
func (g *guest) usage() string {
	if g.init == nil {
		return ""
	}
	u := host.UsageOf(g.init.Process.Pid)
	return fmt.Sprintf("%d %d %d", u.Processes, u.MemoryBytes, u.CPUMillis*1000)
}

// sayReady connects to the host's port as the machine's first process does.
func (g *guest) sayReady(socket string) error {
	conn, err := net.Dial("unix", fmt.Sprintf("%s_%d", socket, machine.ReadyVsock))
	if err != nil {
		return err
	}
	return conn.Close()
}

// pack writes what the guest has in memory, and its workspace, which is in no disk here, as an
// archive.
func (g *guest) pack(w io.Writer) error {
	a := tar.NewWriter(w)
	if err := a.AddFS(os.DirFS(guestFolder)); err != nil {
		return err
	}
	return a.Close()
}

// unpackFolder writes the files of an archive to a folder.
func unpackFolder(raw []byte, folder string) error {
	a := tar.NewReader(bytes.NewReader(raw))
	for {
		h, err := a.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		to := filepath.Join(folder, filepath.Clean("/"+h.Name))
		if h.Typeflag == tar.TypeDir {
			err = os.MkdirAll(to, 0o755)
		} else if err = os.MkdirAll(filepath.Dir(to), 0o755); err == nil {
			var content []byte
			if content, err = io.ReadAll(a); err == nil {
				err = os.WriteFile(to, content, h.FileInfo().Mode())
			}
		}
		if err != nil {
			return err
		}
	}
}
