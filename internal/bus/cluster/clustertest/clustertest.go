// Package clustertest gives tests a NATS cluster in their own process.
package clustertest

import (
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"choiros/internal/bus/cluster"
)

// The account of the servers.
const (
	User     = "choir"
	Password = "correct-horse"
)

const patience = 60 * time.Second

// Start starts n servers with JetStream, as one cluster if n > 1, and returns the
// configuration to connect to them. The timeout of appends is as long as tests wait.
func Start(t testing.TB, n int) cluster.Config {
	t.Helper()
	cfg := cluster.Config{Credentials: filepath.Join(t.TempDir(), "credentials"), Timeout: patience}
	if err := os.WriteFile(cfg.Credentials, []byte(User+":"+Password+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	routes := make([]*url.URL, n)
	for i := range routes {
		routes[i] = &url.URL{Scheme: "nats", Host: freeAddress(t)}
	}
	for i := range n {
		o := &server.Options{
			ServerName: "s" + strconv.Itoa(i), Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true,
			Username: User, Password: Password, JetStream: true, StoreDir: t.TempDir(),
		}
		if n > 1 {
			port, err := strconv.Atoi(routes[i].Port())
			if err != nil {
				t.Fatal(err)
			}
			o.Routes, o.Cluster = routes, server.ClusterOpts{Name: "choir", Host: routes[i].Hostname(), Port: port}
		}
		cfg.Servers = append(cfg.Servers, "nats://"+start(t, o))
	}
	return cfg
}

func start(t testing.TB, o *server.Options) (address string) {
	t.Helper()
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	if !s.ReadyForConnections(patience) {
		t.Fatal("a server does not start")
	}
	return s.Addr().String()
}

// freeAddress returns a local address with an unused port, because servers of a cluster
// must know each other's addresses before they start.
func freeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
