package microvm

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"

	"choiros/internal/choir"
	"choiros/internal/sandbox/host"
)

// jailArgs returns the command line of the jailer, which starts Firecracker as the user uid,
// with the room as its root folder and a pid namespace of its own. The jailer is started in the
// sandbox's cgroup, so it makes none.
func (f *firecrackerMonitor) jailArgs(name string, uid int, fileBytes int64, openFiles int) []string {
	user := strconv.Itoa(uid)
	return []string{
		f.m.prlimit, "--core=0", "--", f.jailer, "--id", name, "--exec-file", f.path, "--uid", user, "--gid", user,
		"--chroot-base-dir", roomsIn(f.cfg), "--new-pid-ns",
		"--resource-limit", fmt.Sprintf("fsize=%d", fileBytes), "--resource-limit", fmt.Sprintf("no-file=%d", openFiles),
		"--", "--api-sock", roomAPI,
	}
}

// jailed waits for the end of the jailer and returns the process that it left, whose number it
// wrote into the room. No machine runs yet, so nobody else wrote there.
func (f *firecrackerMonitor) jailed(ctx context.Context, b *box) (int, error) {
	const op = "microvm.jail"
	p, err := host.OpenProcess(b.child.Pid, 0)
	if err == nil {
		err = p.Wait(ctx)
		p.Close()
	}
	if err != nil && choir.CodeOf(err) != choir.CodeNotFound {
		return 0, choir.Wrap(op, choir.CodeUnavailable, err, "wait for the jailer")
	}
	how, err := b.child.Wait()
	if err != nil || !how.Success() {
		return 0, choir.E(op, choir.CodeUnavailable, "the jailer ended with %v %v", how, err)
	}
	text, err := readFew(filepath.Join(b.state.Room, filepath.Base(f.path)+".pid"), 32)
	if err != nil {
		return 0, choir.Wrap(op, choir.CodeUnavailable, err, "read which process the jailer made")
	}
	pid, err := strconv.Atoi(string(text))
	return pid, choir.Wrap(op, choir.CodeUnavailable, err, "read which process the jailer made")
}
