package hub

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"choiros/internal/choir"
)

const (
	// maxAtDoor bounds the connections one door holds at a time. A role has two
	// while its credentials are renewed.
	maxAtDoor = 16
	// maxSocketPath is what fits sockaddr_un with its final NUL.
	maxSocketPath = 107
)

// Door is a unix socket that leads to the bus.
type Door struct {
	bus      *Server
	allow    func(pid int32) bool
	listener *net.UnixListener
	folder   *os.File
	cancel   context.CancelFunc
	running  sync.WaitGroup // the accept loop and every connection
}

// ListenDoor listens on a unix socket and bridges every peer whose host pid is
// allowed, until ctx ends or Close. The socket is 0666: the folder it lies in
// decides who can reach it. A peer that is not allowed is hung up on without a
// word. allow is called from many goroutines.
func ListenDoor(ctx context.Context, path string, s *Server, allow func(pid int32) bool) (*Door, error) {
	d := &Door{bus: s, allow: allow}
	if err := d.listen(path); err != nil {
		return nil, choir.Wrap("bus.door", choir.CodeUnavailable, err, "listen on %s", path)
	}
	ctx, d.cancel = context.WithCancel(ctx)
	d.running.Go(func() { d.serve(ctx) })
	context.AfterFunc(ctx, func() { d.listener.Close() })
	return d, nil
}

// listen goes through an open folder, so that the length of its path does not
// matter, and replaces a socket that an earlier control plane left.
func (d *Door) listen(path string) error {
	var err error
	if d.folder, err = os.Open(filepath.Dir(path)); err != nil {
		return err
	}
	short := path
	if len(path) > maxSocketPath {
		short = filepath.Join("/proc/self/fd", strconv.Itoa(int(d.folder.Fd())), filepath.Base(path))
	}
	if info, stat := os.Lstat(path); stat == nil && info.Mode().Type() == os.ModeSocket {
		err = os.Remove(path)
	}
	if err == nil {
		d.listener, err = net.ListenUnix("unix", &net.UnixAddr{Name: short, Net: "unix"})
	}
	if err == nil {
		err = os.Chmod(path, 0o666)
	}
	if err != nil {
		err = errors.Join(err, d.hangUp())
	}
	return err
}

func (d *Door) hangUp() error {
	var err error
	if d.listener != nil {
		err = d.listener.Close()
	}
	return errors.Join(err, d.folder.Close())
}

func (d *Door) serve(ctx context.Context) {
	places := make(chan struct{}, maxAtDoor)
	for {
		nc, err := d.listener.AcceptUnix()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			// Out of descriptors or memory: others give some back, so wait a little.
			if !pause(ctx, 50*time.Millisecond) {
				return
			}
			continue
		}
		select {
		case places <- struct{}{}:
		default:
			nc.Close()
			continue
		}
		d.running.Go(func() {
			defer func() { <-places }()
			d.admit(ctx, nc)
		})
	}
}

func (d *Door) admit(ctx context.Context, nc *net.UnixConn) {
	defer nc.Close()
	pid, err := peerPID(nc)
	if err != nil || !d.allow(pid) {
		return
	}
	// How a connection of a sandbox ends is the sandbox's business.
	_ = d.bus.Bridge(ctx, nc)
}

// Close stops listening, removes the socket, ends every connection and waits
// for them.
func (d *Door) Close() error {
	d.cancel()
	err := d.listener.Close()
	if errors.Is(err, net.ErrClosed) {
		err = nil
	}
	d.running.Wait()
	return errors.Join(err, d.folder.Close())
}
