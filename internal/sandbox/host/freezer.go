package host

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
)

// freezer is the file of a group by which the kernel stops its processes, and the values to write
// to it.
type freezer struct {
	file, stop, run string
	// frozen reports whether all processes stand still.
	frozen func() bool
}

// errNoFreezer is the error of findFreezer for a group that cannot be stopped as a whole.
var errNoFreezer = errors.New("it has none here")

// checkFreezer returns nil if the file of a freezer can be written, and errNoFreezer if it is not
// there or this process may not write it. Other errors, as the lack of a file descriptor, say nothing
// of the freezer.
func checkFreezer(file string) error {
	err := checkWritable(file)
	if groupGone(err) || errors.Is(err, os.ErrPermission) || errors.Is(err, unix.EROFS) {
		return errNoFreezer
	}
	return err
}

// findFreezer returns the freezer of a version 1 group. Its error is as Group says.
func (g *v1Group) findFreezer() (freezer, error) {
	for _, dir := range g.dirs {
		file := filepath.Join(dir, "freezer.state")
		err := checkFreezer(file)
		if err == errNoFreezer {
			continue
		}
		return freezer{file, "FROZEN", "THAWED", func() bool {
			raw, err := os.ReadFile(file) // which also makes the kernel look again
			return err == nil && strings.TrimSpace(string(raw)) == "FROZEN"
		}}, err
	}
	return freezer{}, errNoFreezer
}

// findFreezer returns the freezer of a version 2 group, which has none before Linux 5.2. Its error is
// as Group says.
func (g *v2Group) findFreezer() (freezer, error) {
	file := filepath.Join(g.dir, "cgroup.freeze")
	return freezer{file, "1", "0", func() bool {
		raw, err := os.ReadFile(filepath.Join(g.dir, "cgroup.events"))
		return err == nil && slices.Contains(strings.Split(string(raw), "\n"), "frozen 1")
	}}, checkFreezer(file)
}

// findFreezer returns errNoFreezer: a group without cgroups cannot be stopped as a whole.
func (noGroup) findFreezer() (freezer, error) { return freezer{}, errNoFreezer }

// freezePatience is the time that the processes of a group have to stand still.
const freezePatience = 2 * time.Second

// Inner stops the programs of a sandbox by the sandbox's own kernel, which notices that the host's
// stops it: before the host does, and until after the host has let it go on.
type Inner interface {
	// Stop stops the programs and returns when they stand still.
	Stop(ctx context.Context) error
	// Continue lets them go on. It does nothing where they were not stopped, also by an earlier
	// control plane.
	Continue() error
	// Command returns the command by which a guard lets them go on. It fails until they are
	// stopped.
	Command() []string
}

// Pausing pauses and resumes the processes of a sandbox by the freezer of their group. It is safe
// for concurrent use.
type Pausing struct {
	// Inner is set before the first use; nil for none.
	Inner Inner

	mu    sync.Mutex // guards guard
	guard *guard     // nil unless paused
}

// Pause stops the processes of a group and returns when they stand still, see sandbox.Pauser.
func (p *Pausing) Pause(ctx context.Context, g Group) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.guard != nil {
		return nil
	}
	f, err := g.findFreezer()
	if err != nil {
		return choir.Wrap("host.pause", choir.CodeUnavailable, err, "find the freezer of a sandbox's cgroup")
	}
	guard, err := startGuard(nil, resumeScript, append([]string{f.file, f.run}, p.command()...)...)
	if err != nil {
		return choir.Wrap("host.pause", choir.CodeUnavailable, err, "start the process that resumes a sandbox whose control plane was killed")
	}
	if p.Inner != nil {
		err = p.Inner.Stop(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, freezePatience)
	defer cancel()
	if err == nil {
		err = writeKnob(f.file, f.stop)
	}
	if err == nil {
		err = f.await(ctx)
	}
	if err != nil {
		back := errors.Join(writeKnob(f.file, f.run), p.continueInner())
		if back == nil {
			guard.kill()
		} else {
			p.guard = guard // Resume tries again
		}
		return choir.Wrap("host.pause", choir.CodeUnavailable, errors.Join(err, back), "stop the processes of a sandbox")
	}
	p.guard = guard
	return nil
}

// await waits until the group is frozen. If ctx ends first it returns its error.
func (f freezer) await(ctx context.Context) error {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !f.frozen() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// Resume lets the processes of a group go on, see sandbox.Pauser. A group that is gone is no
// error.
func (p *Pausing) Resume(g Group) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	err := resumeGroup(g)
	if err == nil && g != nil {
		err = p.continueInner()
	}
	// After that: were this process killed in between, nobody would resume the group.
	if err == nil && p.guard != nil {
		p.guard.kill()
		p.guard = nil
	}
	return err
}

// thaw undoes the freezer of a group alone, without which a version 1 group cannot be killed. The
// sandbox's own kernel may still hold its programs, and a guard stays until Resume.
func (p *Pausing) thaw(g Group) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return resumeGroup(g)
}

func (p *Pausing) command() []string {
	if p.Inner == nil {
		return nil
	}
	return p.Inner.Command()
}

func (p *Pausing) continueInner() error {
	if p.Inner == nil {
		return nil
	}
	return p.Inner.Continue()
}

// resumeGroup lets the processes of a group go on.
func resumeGroup(g Group) error {
	if g == nil {
		return nil
	}
	f, err := g.findFreezer()
	if err == nil {
		err = writeKnob(f.file, f.run)
	}
	if err == errNoFreezer || groupGone(err) {
		return nil // nothing could have stopped them, or nothing is left of them
	}
	return choir.Wrap("host.resume", choir.CodeUnavailable, err, "let the processes of a sandbox go on")
}

// groupGone reports whether a knob could not be written because its group is removed: before the file was opened, or
// between that and the writing.
func groupGone(err error) bool {
	return errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ENODEV)
}

// resumeScript waits for the end of its input, writes a value to a file, and runs a command until it
// succeeds, for ten seconds: it may come before the command that it takes back. What stands still
// cannot notice that it has no control plane.
const resumeScript = `PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
read -r _; printf %s "$2" >"$1"
shift 2
[ $# = 0 ] && exit
left=50
until "$@" || [ "$left" = 0 ]; do left=$((left - 1)); sleep 0.2; done`
