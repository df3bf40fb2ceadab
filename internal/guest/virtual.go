package guest

import (
	"context"
	"io"
	"net"
	"net/netip"
	"strconv"
	"sync"

	"choiros/internal/choir"
	"choiros/internal/guest/roledoor"
)

// maxNames bounds the names with a virtual address; the name that was asked for least recently
// makes room. maxPorts bounds the ports of each.
const (
	maxNames = 128
	maxPorts = 16
)

// usualPorts are listened at for every name besides the ports of the policy, so that what a
// program wants there is decided, and asked for, as through the proxy.
var usualPorts = []int{22, 80, 443, 9418}

// virtual holds the loopback addresses that stand for host names. A connection to one becomes
// a tunnel of the egress door to that name and port.
type virtual struct {
	s *Server

	mu     sync.Mutex // guards the fields below; held for no call but listen
	next   netip.Addr
	order  []virtualKey // the least recently asked for first
	hosts  map[virtualKey]*virtualHost
	closed bool
}

// virtualKey is a name as it is asked for by programs of one mark.
type virtualKey struct {
	name string
	at   netip.Addr
}

// virtualHost is a virtual address with its listeners, by port.
type virtualHost struct {
	addr      netip.Addr
	listeners map[int]net.Listener
}

func newVirtual(s *Server) *virtual {
	return &virtual{s: s, next: choir.VirtualFirst, hosts: map[virtualKey]*virtualHost{}}
}

// address returns the address that stands for a name, and listens there at the ports.
func (v *virtual) address(ctx context.Context, name string, at netip.Addr, ports []int) (netip.Addr, error) {
	key := virtualKey{name, at}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		return netip.Addr{}, net.ErrClosed
	}
	h := v.touch(key)
	for i, port := range append(append([]int(nil), usualPorts...), ports...) {
		if h.listeners[port] != nil || i >= maxPorts {
			continue
		}
		l, err := listenTCP(netip.AddrPortFrom(h.addr, uint16(port)).String(), true)
		if err != nil {
			continue // a program of the sandbox has the port at all addresses, or it is privileged
		}
		h.listeners[port] = l
		v.s.handlers.Go(func() { v.accept(ctx, l, key, port) })
	}
	return h.addr, nil
}

// touch returns the host of a key as the one most recently asked for; it is made if need be, and
// the oldest one closed when there are too many.
func (v *virtual) touch(key virtualKey) *virtualHost {
	for i, k := range v.order {
		if k == key {
			v.order = append(append(v.order[:i:i], v.order[i+1:]...), key)
			return v.hosts[key]
		}
	}
	if len(v.order) == maxNames {
		v.hosts[v.order[0]].close()
		delete(v.hosts, v.order[0])
		v.order = v.order[1:]
	}
	h := &virtualHost{addr: v.freeAddress(), listeners: map[int]net.Listener{}}
	v.hosts[key], v.order = h, append(v.order, key)
	return h
}

// freeAddress returns the next address that stands for no name. There are many more addresses
// than names.
func (v *virtual) freeAddress() netip.Addr {
	for {
		free := v.next
		if v.next = v.next.Next(); v.next.Compare(choir.VirtualLast) > 0 {
			v.next = choir.VirtualFirst
		}
		taken := false
		for _, h := range v.hosts {
			taken = taken || h.addr == free
		}
		if !taken {
			return free
		}
	}
}

func (h *virtualHost) close() {
	for _, l := range h.listeners {
		l.Close()
	}
}

// close closes all listeners.
func (v *virtual) close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.closed = true
	for _, h := range v.hosts {
		h.close()
	}
}

// accept joins each connection to a virtual address with a tunnel, until the listener is closed.
func (v *virtual) accept(ctx context.Context, l net.Listener, key virtualKey, port int) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		select {
		case v.s.tunnels <- struct{}{}:
		default:
			reset(conn)
			continue
		}
		v.s.handlers.Go(func() {
			defer func() { <-v.s.tunnels }()
			v.s.tunnelTo(ctx, conn, key, port)
		})
	}
}

// tunnelTo joins a program's connection with a tunnel of the egress door, or resets it if the
// policy refuses one.
func (s *Server) tunnelTo(ctx context.Context, in net.Conn, key virtualKey, port int) {
	defer in.Close()
	o, err := s.connect(ctx, streamKind{roledoor.Egress, CallerTool}, beginsAt(key.at), nil)
	if err != nil {
		return // the server ends
	}
	defer close(o.over)
	stop := context.AfterFunc(ctx, func() { in.Close(); o.w.conn.Close() })
	defer stop()
	to := key.name + ":" + strconv.Itoa(port)
	if _, err := io.WriteString(o.w.conn, "CONNECT "+to+" HTTP/1.1\r\nHost: "+to+"\r\n\r\n"); err != nil {
		reset(in)
		o.w.conn.Close()
		return
	}
	// The wire's own reader keeps what the host says first.
	if status, err := readStatus(o.w.in); err != nil || status != "200" {
		reset(in)
		o.w.conn.Close()
		return
	}
	join(in, o.w.bare())
}

// reset closes a connection so that its program hears that it was refused.
func reset(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	conn.Close()
}
