package microvm

import (
	"context"
	"os"
	"syscall"

	"choiros/internal/choir"
	"choiros/internal/inherited"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/host"

	"golang.org/x/sys/unix"
)

// monitor makes the machines of one program that runs virtual machines. It knows how that
// program is found, started and told what a machine has; what a machine has is the same with
// each of them.
type monitor interface {
	// title returns the name of the program.
	title() string
	// find looks for the program and what it needs of this machine, for setUp.
	find(ctx context.Context) error
	// setUp prepares what all machines share, and says in m.facts what it offers.
	setUp(ctx context.Context, m *machineParts) error
	// needs returns the threads and the bytes of memory of the program's own, besides the
	// machine's.
	needs() (threads int, bytes int64)
	// bring starts the program in the sandbox's group and the machine in it, and stores in b
	// what of it must be removed. It returns when choir-init may be asked.
	bring(ctx context.Context, b *box, spec sandbox.Spec) error
	// checks returns the rows of a report about the program.
	checks(ctx context.Context) []sandbox.Check
	// acceleration returns the row of a report about what executes the machines.
	acceleration(f facts) sandbox.Check
}

// newMonitor returns the monitor that the configuration names.
func newMonitor(cfg Config) monitor {
	if cfg.VMM == VMMFirecracker {
		return &firecrackerMonitor{cfg: cfg}
	}
	return &qemuMonitor{cfg: cfg}
}

// spawn starts the program of a monitor in the sandbox's group, in the folder dir, without a
// network, with the console as its output, and with files from descriptor 3 on. Where the
// control plane is root it runs as the user uid with the further group, if that is not 0.
func (m *machineParts) spawn(b *box, dir string, uid, group int, argv []string, files []*os.File) error {
	null, err := os.OpenFile(os.DevNull, os.O_RDONLY, 0)
	if err != nil {
		return choir.Wrap("microvm.create", choir.CodeInternal, err, "open %s", os.DevNull)
	}
	defer null.Close()
	all := append([]*os.File{null, b.console, b.console}, files...)
	// What this process has open for its own children would be open in the program.
	if err := inherited.KeepFromChildren(); err != nil {
		return err
	}
	err = b.Group.Start(func(attr *syscall.SysProcAttr) error {
		attr.Setsid = true // a ^C in the control plane's terminal is not for sandboxes
		if m.facts.Root {
			attr.Cloneflags = unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS
			if uid > 0 {
				attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}
				if group > 0 {
					attr.Credential.Groups = []uint32{uint32(group)}
				}
			}
		}
		b.child, err = os.StartProcess(argv[0], argv, &os.ProcAttr{Dir: dir, Env: []string{}, Sys: attr, Files: all})
		return err
	})
	if err != nil {
		return choir.Wrap("microvm.create", choir.CodeUnavailable, err, "start %s", m.vmm.title())
	}
	host.SetVictim(b.child.Pid, host.VictimWhileMade)
	return nil
}

// hold opens the process of a monitor and enters it in the sandbox's handle.
func (b *box) hold(ctx context.Context, pid int) error {
	var err error
	if b.Main, err = host.OpenProcess(pid, 0); err != nil {
		return b.notMade(ctx, err)
	}
	b.state.PID, b.state.Start = pid, b.Main.Start
	return b.Making.NoteProcess(host.ProcessName{PID: pid, Start: b.Main.Start})
}
