package hub_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"choiros/internal/bus/bustest"
	"choiros/internal/bus/hub"
	"choiros/internal/choir"
)

// smallDisk mounts a real file system of so many MiB for the time of the test.
func smallDisk(t *testing.T, mib int) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("mounting a small file system needs root")
	}
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%dm", mib)); err != nil {
		t.Skipf("this machine does not let root mount a tmpfs: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fill writes a file until the disk is full, and tells how to take it away.
func fill(t *testing.T, disk string) (free func()) {
	t.Helper()
	path := filepath.Join(disk, "ballast")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for block := make([]byte, 64<<10); len(block) > 0; {
		if _, err := f.Write(block); err != nil {
			block = block[:len(block)/2]
		}
	}
	return func() {
		if err := os.Remove(path); err != nil {
			t.Error(err)
		}
	}
}

func startIn(t *testing.T, dir string) *hub.Server {
	t.Helper()
	s, err := hub.Start(t.Context(), hub.Config{Dir: dir, WatchEvery: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// watched runs the bus's own service until the test ends.
func watched(t *testing.T, s *hub.Server) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

func TestAStreamNeverOutgrowsItsDisk(t *testing.T) {
	t.Parallel()
	disk := smallDisk(t, 12)
	s := startIn(t, filepath.Join(disk, "bus"))
	l := bustest.NewLog(bustest.NewHome(t))
	const events = 25_000 // more bytes than the disk has
	l.Append(events)
	relaying(t, s, l, filepath.Join(t.TempDir(), "relay.json"))
	stored(t, s, l)
	if err := s.Healthy(); err != nil {
		t.Error(err)
	}
	if got := stored(t, s, l); len(got) == events || got[len(got)-1] != events {
		t.Errorf("the stream holds %d of %d events, to %d", len(got), events, got[len(got)-1])
	}
	var left unix.Statfs_t
	if err := unix.Statfs(disk, &left); err != nil {
		t.Fatal(err)
	}
	if free := int64(left.Bavail) * left.Bsize; free < 4<<20 {
		t.Errorf("the stream left %d bytes of the disk to the log", free)
	}
}

// TestABusWithoutRoomDelaysAndLosesNothing: the disk of the bus is full when it
// is started again. Commands are answered and the log goes on; with room again
// everything is delivered.
func TestABusWithoutRoomDelaysAndLosesNothing(t *testing.T) {
	t.Parallel()
	disk := smallDisk(t, 16)
	dir := filepath.Join(disk, "bus")
	hub1 := startIn(t, dir)
	l := bustest.NewLog(bustest.NewHome(t))
	l.Append(10)
	cursor := filepath.Join(t.TempDir(), "relay.json")
	stop := relaying(t, hub1, l, cursor)
	stored(t, hub1, l)
	stop()
	hub1.Close()

	free := fill(t, disk)
	s := startIn(t, dir)
	wantNoRoom(t, s.Healthy(), dir)
	answerFrom(t, s, l)
	watched(t, s)
	relaying(t, s, l, cursor)
	c := bustest.Dial(t, s, choir.RoleDirector, l.Home)
	l.Append(10)
	if events, err := c.EventsAfter(bustest.Within(t), 0, 100); err != nil || len(events) != 20 {
		t.Fatalf("%d events, %v", len(events), err)
	}
	wantNoRoom(t, s.Healthy(), dir)
	free()
	becomes(t, s, "")
	mustBe(t, stored(t, s, l), 1, 20)
	if s.MovedAside() != "" {
		t.Error("a store was taken for broken because its disk was full")
	}
}

func wantNoRoom(t *testing.T, err error, dir string) {
	t.Helper()
	var e *choir.Error
	if !asError(err, &e) || e.Code != choir.CodeNoSpace || !strings.Contains(e.Msg, dir) || e.Remedy == "" || e.Err != nil {
		t.Fatalf("a bus without room says %v", err)
	}
}

// TestADiskThatFillsUpBelowARunningBus: the store stops by itself; the bus goes
// on without it and takes it up again.
func TestADiskThatFillsUpBelowARunningBus(t *testing.T) {
	t.Parallel()
	disk := smallDisk(t, 16)
	s := startIn(t, filepath.Join(disk, "bus"))
	l := bustest.NewLog(bustest.NewHome(t))
	answerFrom(t, s, l)
	relay := hub.NewRelay(s, l, bustest.Cursor(filepath.Join(t.TempDir(), "relay.json")), l.Home.User, l.Home.Computer)
	running(t, relay.WithPatience(500*time.Millisecond))
	free := fill(t, disk)
	l.Append(3000)
	becomes(t, s, choir.CodeUnavailable)
	watched(t, s)
	becomes(t, s, choir.CodeNoSpace)
	c := bustest.Dial(t, s, choir.RoleDirector, l.Home)
	if events, err := c.EventsAfter(bustest.Within(t), 0, 5); err != nil || len(events) != 5 {
		t.Fatalf("%d events, %v", len(events), err)
	}
	free()
	becomes(t, s, "")
	mustBe(t, stored(t, s, l), 1, 3000)
}

// becomes waits until the bus says this of its health; empty is healthy.
func becomes(t *testing.T, s *hub.Server, want choir.Code) {
	t.Helper()
	ctx := bustest.Within(t)
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for choir.CodeOf(s.Healthy()) != want {
		select {
		case <-look.C:
		case <-ctx.Done():
			t.Fatalf("of itself the bus still says: %v", s.Healthy())
		}
	}
}
