package bench

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"time"

	"choiros/internal/choir"
	"choiros/internal/control/egress"
)

// egressBytes are sent by one sample of the throughput.
const egressBytes = 64 << 20

// egressHost is the name of the server of the benchmark, as programs in the sandbox call it.
const egressHost = "host.test"

// benchEgress measures what the egress proxy adds to a request and how much it passes, beside
// a tunnel that does nothing but copy. Proxy, tunnel and server are on loopback.
func benchEgress(ctx context.Context, l *lab, emit func(Row)) error {
	w, err := newEgressWorld()
	if err != nil {
		return err
	}
	defer w.close()
	row, err := turns{
		n: l.count(500), warmup: 20,
		ours: func(context.Context) (float64, error) { return w.ask(w.proxy.Listener.Addr().String()) },
		peer: func(context.Context) (float64, error) { return w.ask(w.bare.Listener.Addr().String()) },
	}.measure(ctx, Row{Case: "a request in a tunnel", Unit: "ms", Peer: "a bare tunnel"})
	if err != nil {
		return err
	}
	emit(row)
	row, err = turns{
		n: l.count(15), warmup: 1, rate: true,
		ours: func(context.Context) (float64, error) { return w.send(w.proxy.Listener.Addr().String()) },
		peer: func(context.Context) (float64, error) { return w.send(w.bare.Listener.Addr().String()) },
	}.measure(ctx, Row{Case: "throughput", Unit: "MB/s", Peer: "a bare tunnel"})
	if err == nil {
		emit(row)
	}
	return err
}

// egressWorld is a server that answers a byte for what it is sent, the proxy and a bare tunnel.
type egressWorld struct {
	server      net.Listener
	proxy, bare *httptest.Server
	egress      *egress.Proxy
}

func newEgressWorld() (*egressWorld, error) {
	policy, err := egress.NewPolicy(choir.EgressAllowlist, []choir.EgressHost{{Host: egressHost, Port: 7}})
	if err != nil {
		return nil, err
	}
	w := &egressWorld{}
	if w.server, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	go w.serve()
	dial := func(ctx context.Context, _ netip.AddrPort) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", w.server.Addr().String())
	}
	limits := egress.DefaultLimits()
	limits.Rate, limits.Burst = 1e9, 1e9
	w.egress = egress.New(egress.Config{
		Policy: policy, Limits: limits, Now: time.Now, Log: unrecorded{},
		Outside: egress.Outside{Resolver: fixedName{}, Permit: func(netip.Addr) bool { return true }, Dial: dial},
		Work:    func(*http.Request) (egress.Work, error) { return egress.Work{}, nil },
		Answer:  func(w http.ResponseWriter, err error) { http.Error(w, err.Error(), http.StatusForbidden) },
	})
	w.proxy, w.bare = httptest.NewServer(w.egress), httptest.NewServer(http.HandlerFunc(w.copy))
	return w, nil
}

func (w *egressWorld) close() {
	w.egress.Close()
	w.proxy.Close()
	w.bare.Close()
	w.server.Close()
}

// serve answers each connection with a byte, once for its first byte and once at its end.
func (w *egressWorld) serve() {
	for {
		conn, err := w.server.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			first := make([]byte, 1)
			if _, err := io.ReadFull(conn, first); err != nil {
				return
			}
			_, _ = conn.Write(first) // the client reports what does not come
			_, _ = io.Copy(io.Discard, conn)
			_, _ = conn.Write(first)
		}()
	}
}

// copy is the bare tunnel.
func (w *egressWorld) copy(rw http.ResponseWriter, _ *http.Request) {
	client, _, err := http.NewResponseController(rw).Hijack()
	if err != nil {
		return
	}
	defer client.Close()
	host, err := net.Dial("tcp", w.server.Addr().String())
	if err != nil {
		return
	}
	defer host.Close()
	if _, err := io.WriteString(client, "HTTP/1.1 200 OK\r\n\r\n"); err != nil {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(host, client)
		_ = host.(*net.TCPConn).CloseWrite()
	}()
	_, _ = io.Copy(client, host)
	<-done
}

// tunnel opens a tunnel at a proxy.
func (w *egressWorld) tunnel(at string) (net.Conn, *bufio.Reader, error) {
	conn, err := net.Dial("tcp", at)
	if err != nil {
		return nil, nil, err
	}
	to := egressHost + ":7"
	in := bufio.NewReader(conn)
	_, err = fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", to, to)
	if err == nil {
		var r *http.Response
		if r, err = http.ReadResponse(in, &http.Request{Method: http.MethodConnect}); err == nil && r.StatusCode != http.StatusOK {
			err = choir.E("bench", choir.CodeUnavailable, "the tunnel was answered with %s", strings.TrimSpace(r.Status))
		}
	}
	if err != nil {
		conn.Close()
		return nil, nil, err
	}
	return conn, in, nil
}

// ask opens a tunnel, sends a byte and waits for the answering byte.
func (w *egressWorld) ask(at string) (float64, error) {
	began := time.Now()
	conn, in, err := w.tunnel(at)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	if _, err := conn.Write([]byte{'.'}); err != nil {
		return 0, err
	}
	_, err = in.ReadByte()
	return millis(time.Since(began)), err
}

// send sends egressBytes through a tunnel.
func (w *egressWorld) send(at string) (float64, error) {
	conn, in, err := w.tunnel(at)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	piece := make([]byte, 256<<10)
	began := time.Now()
	for sent := 0; sent < egressBytes; sent += len(piece) {
		if _, err := conn.Write(piece); err != nil {
			return 0, err
		}
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		return 0, err
	}
	_, err = io.CopyN(io.Discard, in, 2)
	return egressBytes / 1e6 / time.Since(began).Seconds(), err
}

// fixedName resolves every name to one address.
type fixedName struct{}

// LookupNetIP implements egress.Resolver.
func (fixedName) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.AddrFrom4([4]byte{198, 18, 0, 1})}, nil
}

// unrecorded implements egress.Recorder and keeps nothing.
type unrecorded struct{}

func (unrecorded) RecordRefusal(context.Context, egress.Work, egress.Refusal) (bool, error) {
	return false, nil
}
func (unrecorded) RecordPassage(context.Context, egress.Work, choir.EgressPassed) error { return nil }
