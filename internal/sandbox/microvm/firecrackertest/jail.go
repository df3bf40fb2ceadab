package firecrackertest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	guestserver "choiros/internal/guest"
	"choiros/internal/sandbox"
)

// jailer is the command line of the jailer, as Firecracker's docs/jailer.md has it.
type jailer struct {
	id, exec, base string
	uid, gid       int
	pidNamespace   bool
	limits         map[string]uint64
	more           []string
}

func parseJailer(args []string) (jailer, error) {
	j := jailer{limits: map[string]uint64{"no-file": 2048}}
	flags := flag.NewFlagSet("jailer", flag.ContinueOnError)
	flags.StringVar(&j.id, "id", "", "")
	flags.StringVar(&j.exec, "exec-file", "", "")
	flags.StringVar(&j.base, "chroot-base-dir", "/srv/jailer", "")
	flags.IntVar(&j.uid, "uid", -1, "")
	flags.IntVar(&j.gid, "gid", -1, "")
	flags.BoolVar(&j.pidNamespace, "new-pid-ns", false, "")
	flags.Func("resource-limit", "", func(text string) error {
		name, value, _ := strings.Cut(text, "=")
		n, err := strconv.ParseUint(value, 10, 64)
		if name != "fsize" && name != "no-file" {
			return fmt.Errorf("%q is no limit", name)
		}
		j.limits[name] = n
		return err
	})
	err := flags.Parse(args)
	j.more = flags.Args()
	if err == nil && (j.id == "" || len(j.id) > 64 || j.exec == "" || j.uid < 0 || j.gid < 0) {
		err = fmt.Errorf("the jailer lacks arguments: %q", args)
	}
	return j, err
}

// jail does what the jailer does: it makes the room the root folder of a process that runs as
// the given user in a pid namespace of its own.
func jail(args []string) error {
	runtime.LockOSThread() // what follows is of this thread, and of what it starts
	j, err := parseJailer(args)
	if err != nil {
		return err
	}
	if !j.pidNamespace {
		return errors.New("the stand-in makes a pid namespace always")
	}
	name := filepath.Base(j.exec)
	root := filepath.Join(j.base, name, j.id, "root")
	if err := os.MkdirAll(root, 0o700); err != nil {
		return err
	}
	if err := j.copyExec(filepath.Join(root, name)); err != nil {
		return err
	}
	for what, which := range map[string]int{"fsize": unix.RLIMIT_FSIZE, "no-file": unix.RLIMIT_NOFILE} {
		if n, has := j.limits[what]; has {
			if err := syscall.Setrlimit(which, &syscall.Rlimit{Cur: n, Max: n}); err != nil {
				return err
			}
		}
	}
	if err := enterRoot(root); err != nil {
		return err
	}
	if err := j.makeFolders(); err != nil {
		return err
	}
	return j.start("/" + name)
}

func (j jailer) copyExec(to string) error {
	from, err := os.Open(j.exec)
	if err != nil {
		return err
	}
	defer from.Close()
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|unix.O_NOFOLLOW, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	return errors.Join(err, f.Chown(j.uid, j.gid), f.Close())
}

// enterRoot makes a folder the root of a new mount namespace.
func enterRoot(root string) error {
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return err
	}
	if err := unix.Mount("", "/", "", unix.MS_SLAVE|unix.MS_REC, ""); err != nil {
		return err
	}
	if err := unix.Mount(root, root, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return err
	}
	const old = "old_root"
	for _, step := range []func() error{
		func() error { return unix.Chdir(root) },
		func() error { return unix.Mkdir(old, 0o600) },
		func() error { return unix.PivotRoot(".", old) },
		func() error { return unix.Chdir("/") },
		func() error { return unix.Unmount(old, unix.MNT_DETACH) },
		func() error { return unix.Rmdir(old) },
	} {
		if err := step(); err != nil {
			return fmt.Errorf("enter the jail: %w", err)
		}
	}
	return nil
}

// makeFolders makes the folders and devices of a jail.
func (j jailer) makeFolders() error {
	for _, dir := range []string{"/", "/dev", "/dev/net", "/run"} {
		if err := errors.Join(os.MkdirAll(dir, 0o700), os.Chmod(dir, 0o700), os.Chown(dir, j.uid, j.gid)); err != nil {
			return err
		}
	}
	for _, d := range []struct {
		path         string
		major, minor uint32
	}{{"/dev/net/tun", 10, 200}, {"/dev/kvm", 10, 232}, {"/dev/urandom", 1, 9}} {
		if err := unix.Mknod(d.path, unix.S_IFCHR|0o600, int(unix.Mkdev(d.major, d.minor))); err != nil {
			return fmt.Errorf("make %s: %w", d.path, err)
		}
		if err := os.Chown(d.path, j.uid, j.gid); err != nil {
			return err
		}
	}
	return nil
}

// start starts the program and writes its number into a file, as the jailer does.
func (j jailer) start(program string) error {
	argv := append([]string{program, "--id", j.id, "--start-time-us", "1", "--start-time-cpu-us", "1", "--parent-cpu-time-us", "1"}, j.more...)
	p, err := os.StartProcess(program, argv, &os.ProcAttr{
		Env: []string{}, Files: []*os.File{os.Stdin, os.Stdout, os.Stderr},
		Sys: &syscall.SysProcAttr{
			Cloneflags: unix.CLONE_NEWPID, Setsid: true,
			Credential: &syscall.Credential{Uid: uint32(j.uid), Gid: uint32(j.gid), NoSetGroups: true},
		},
	})
	if err != nil {
		return err
	}
	f, err := os.OpenFile(program+".pid", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(f, p.Pid)
	return errors.Join(err, f.Close())
}

// serveHere is choir-init in a jail, where there is no bubblewrap: the server of choir-init in
// this process, which is the first of its pid namespace.
func (g *guest) serveHere(door net.Listener, ended func()) {
	flags := flag.NewFlagSet("choir-init", flag.ContinueOnError)
	orphan := flags.Duration("orphan", 0, "")
	flags.String("max-files", "", "")
	flags.String("workspace", "", "")
	flags.Bool("landlock", false, "")
	err := flags.Parse(g.config.Args)
	if err == nil {
		err = guestserver.NewServer(guestserver.Config{
			Version: "stand-in", Listener: door, Workspace: guestWorkspace, GuestDir: sandbox.GuestInside, Orphan: *orphan,
			Allow: func(net.Conn) error { return nil }, Env: guestserver.Environment(nil, ""), Programs: guestserver.NewReaper(true),
		}).Serve(context.Background())
	}
	fmt.Println("choir-init: the sandbox has ended:", err)
	ended()
}
