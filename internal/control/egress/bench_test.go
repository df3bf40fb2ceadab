package egress

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"choiros/internal/choir"
)

// BenchmarkAdded measures what the proxy adds to a request, beside the same request to the server
// itself, in turn. Both open a connection for each, as a tool does that starts.
func BenchmarkAdded(b *testing.B) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }))
	defer server.Close()
	g := newRig(b, policyOf(b, choir.EgressHost{Host: "good.test", Port: 80}), func(c *Config) { c.Limits.Rate, c.Limits.Burst = 1e9, 1e9 })
	g.serve(good, 80, server.URL)
	go func() {
		for range g.news {
		}
	}()
	defer func() { g.Close(); close(g.news) }()
	ask := func(at, raw string) time.Duration {
		began := time.Now()
		conn, err := net.Dial("tcp", at)
		if err != nil {
			b.Fatal(err)
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, raw)
		r, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || r.StatusCode != 200 {
			b.Fatal(r, err)
		}
		if _, err := io.ReadAll(r.Body); err != nil {
			b.Fatal(err)
		}
		return time.Since(began)
	}
	through := func() time.Duration {
		began := time.Now()
		conn, err := net.Dial("tcp", g.front.Listener.Addr().String())
		if err != nil {
			b.Fatal(err)
		}
		defer conn.Close()
		in := bufio.NewReader(conn)
		for _, raw := range []string{connectTo("good.test:80"), "GET / HTTP/1.1\r\nHost: good.test\r\n\r\n"} {
			_, _ = io.WriteString(conn, raw)
			method, _, _ := strings.Cut(raw, " ")
			r, err := http.ReadResponse(in, &http.Request{Method: method})
			if err != nil || r.StatusCode != 200 {
				b.Fatal(r, err)
			}
			if method == "GET" {
				_, _ = io.ReadAll(r.Body)
			}
		}
		return time.Since(began)
	}
	var direct, proxied, tunnelled []time.Duration
	for b.Loop() {
		direct = append(direct, ask(server.Listener.Addr().String(), "GET / HTTP/1.1\r\nHost: good.test\r\n\r\n"))
		proxied = append(proxied, ask(g.front.Listener.Addr().String(), "GET http://good.test/ HTTP/1.1\r\nHost: good.test\r\n\r\n"))
		tunnelled = append(tunnelled, through())
	}
	p50 := func(all []time.Duration) float64 {
		slices.Sort(all)
		return float64(all[len(all)/2].Microseconds())
	}
	b.ReportMetric(p50(direct), "us-direct-p50")
	b.ReportMetric(p50(proxied)-p50(direct), "us-added-request-p50")
	b.ReportMetric(p50(tunnelled)-p50(direct), "us-added-tunnel-p50")
}

// bareTunnel is a proxy that does CONNECT and nothing else.
func bareTunnel(b *testing.B, server string) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		client, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			b.Error(err)
			return
		}
		defer client.Close()
		host, err := net.Dial("tcp", server)
		if err != nil {
			b.Error(err)
			return
		}
		defer host.Close()
		_, _ = io.WriteString(client, "HTTP/1.1 200 OK\r\n\r\n")
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = io.Copy(host, client)
			_ = host.(*net.TCPConn).CloseWrite()
		}()
		_, _ = io.Copy(client, host)
		<-done
	}))
	b.Cleanup(s.Close)
	return s
}

// BenchmarkThroughput sends 64 MiB through the proxy's tunnel and through a bare one, in turn.
func BenchmarkThroughput(b *testing.B) {
	const size = 64 << 20
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				_, _ = io.Copy(io.Discard, conn)
				_, _ = conn.Write([]byte("."))
			}()
		}
	}()
	g := newRig(b, policyOf(b, choir.EgressHost{Host: "good.test", Port: 22}), func(c *Config) { c.Limits.Rate, c.Limits.Burst = 1e9, 1e9 })
	g.serve(good, 22, l.Addr().String())
	bare := bareTunnel(b, l.Addr().String())
	piece := make([]byte, 256<<10)
	send := func(at string) time.Duration {
		conn, err := net.Dial("tcp", at)
		if err != nil {
			b.Fatal(err)
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, connectTo("good.test:22"))
		in := bufio.NewReader(conn)
		if r, err := http.ReadResponse(in, &http.Request{Method: "CONNECT"}); err != nil || r.StatusCode != 200 {
			b.Fatal(r, err)
		}
		began := time.Now()
		for sent := 0; sent < size; sent += len(piece) {
			if _, err := conn.Write(piece); err != nil {
				b.Fatal(err)
			}
		}
		_ = conn.(*net.TCPConn).CloseWrite()
		if _, err := in.ReadByte(); err != nil {
			b.Fatal(err)
		}
		return time.Since(began)
	}
	var ours, theirs []time.Duration
	for b.Loop() {
		theirs = append(theirs, send(bare.Listener.Addr().String()))
		ours = append(ours, send(g.front.Listener.Addr().String()))
	}
	slices.Sort(ours)
	slices.Sort(theirs)
	o, t := ours[len(ours)/2], theirs[len(theirs)/2]
	b.ReportMetric(float64(size)/1e6/o.Seconds(), "MB/s")
	b.ReportMetric(float64(size)/1e6/t.Seconds(), "MB/s-bare")
	b.ReportMetric(t.Seconds()/o.Seconds(), "of-bare")
}
