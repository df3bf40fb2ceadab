package host

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
)

// deaf is the kernel of a sandbox that stops programs and never lets them go on, until nothing is
// left of the sandbox.
type deaf struct{ removed bool }

func (d *deaf) Stop(context.Context) error { return nil }
func (d *deaf) Command() []string          { return []string{"true"} }

func (d *deaf) Continue() error {
	if d.removed {
		return nil
	}
	return errors.New("the kernel does not answer")
}

// deafBox is a sandbox with such a kernel.
type deafBox struct {
	*Parts
	kernel *deaf
}

var _ Box = (*deafBox)(nil)

func (b *deafBox) Handle() sandbox.Handle                       { return sandbox.Handle{} }
func (b *deafBox) Level() sandbox.Level                         { return sandbox.Level{} }
func (b *deafBox) Usage(context.Context) (sandbox.Usage, error) { return sandbox.Usage{}, nil }

func (b *deafBox) Clear(ctx context.Context) error {
	defer b.Release()
	defer func() { b.kernel.removed = true }()
	return b.RemoveGroup(ctx)
}

// pauseDeafBox returns the paused sandbox of a group, which has one process.
func pauseDeafBox(t *testing.T, g Group) *deafBox {
	t.Helper()
	b := &deafBox{NewParts("test", t.TempDir()), &deaf{}}
	b.Group, b.Main, b.Inner = g, startSleeper(t), b.kernel
	for _, dir := range g.Folders() {
		if err := writeKnob(filepath.Join(dir, "cgroup.procs"), strconv.Itoa(b.Main.PID)); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Pause(t.Context()); err != nil {
		t.Fatal(err)
	}
	return b
}

// TestASandboxWhoseKernelIsDeafCanBeDestroyed destroys a paused sandbox whose own kernel never lets
// its programs go on.
func TestASandboxWhoseKernelIsDeafCanBeDestroyed(t *testing.T) {
	for name, g := range freezableGroups(t) {
		t.Run(name, func(t *testing.T) {
			b, calls := pauseDeafBox(t, g), NewCalls("test")
			defer calls.Close()
			if err := calls.Watch(func(ctx context.Context) { b.watch(ctx, b) }); err != nil {
				t.Fatal(err)
			}
			if err := b.Resume(t.Context()); err == nil {
				t.Error("it could be resumed")
			}
			ctx, cancel := context.WithTimeout(t.Context(), goneTimeout)
			defer cancel()
			if err := b.Destroy(ctx); err != nil {
				t.Fatal(err)
			}
			if left, err := g.Processes(); b.guard != nil || err != nil || len(left) > 0 {
				t.Errorf("its guard is there (%t), or the processes %v, %v", b.guard != nil, left, err)
			}
		})
	}
}

// TestASandboxWhoseKernelIsDeafIsGone recovers such a sandbox by another driver, which removes it.
func TestASandboxWhoseKernelIsDeafIsGone(t *testing.T) {
	for name, g := range freezableGroups(t) {
		t.Run(name, func(t *testing.T) {
			left := pauseDeafBox(t, g)
			defer left.guard.kill()
			found := &deafBox{NewParts("test", t.TempDir()), left.kernel}
			found.Group, found.Main, found.Inner = g, left.Main, left.kernel
			d := NewDriver(Kind[Maker[*deafBox], *deafBox]{
				Name: "test", HelloTimeout: time.Second,
				Find: func(sandbox.Handle) (*deafBox, string, error) { return found, "", nil },
			})
			defer d.Close()
			_, err := d.Recover(t.Context(), sandbox.Handle{})
			if verdict := sandbox.VerdictOf(err); verdict != sandbox.Gone || choir.CodeOf(err) != choir.CodeNotFound {
				t.Errorf("it is %s: %v", verdict, err)
			}
			for _, dir := range g.Folders() {
				if _, err := os.Stat(dir); !os.IsNotExist(err) {
					t.Errorf("its group is there: %v", err)
				}
			}
		})
	}
}
