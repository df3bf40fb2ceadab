package bench

import (
	"errors"
	"io/fs"
	"net"
	"net/http"
	"time"

	"choiros/internal/choir"
	"choiros/internal/control/api"
	"choiros/internal/control/gateway"
	"choiros/internal/webui"
)

// shellName is the host of the shell, as browsers know it.
const shellName = "choir.localhost"

// site is a machine's gateway, open on a port of its own.
type site struct {
	m       *machine
	server  *http.Server
	address string // that it listens at
	host    string // of the shell, with the port
	ended   chan error
}

// serve opens the gateway of a machine. Shell and desktop may be nil, for what
// needs no page.
func (m *machine) serve(shell, desktop fs.FS) (*site, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, choir.Wrap("bench.site", choir.CodeUnavailable, err, "listen")
	}
	_, port, err := net.SplitHostPort(ln.Addr().String())
	if err != nil {
		return nil, errors.Join(err, ln.Close())
	}
	g := gateway.New(gateway.Config{
		Site: gateway.Site{Scheme: "http", Shell: shellName, Domain: "localhost", Port: port}, Shell: shell, Desktop: desktop,
		API:    api.New(m.sys.Edge(), api.Config{Version: "bench", PromptBurst: 1, PromptWindow: time.Second, Now: time.Now}),
		System: m.sys.Edge(), Auth: m.sys.Auth(), Bus: m.sys.Bus(),
	})
	s := &site{
		m: m, server: &http.Server{Handler: g, ReadHeaderTimeout: 10 * time.Second},
		address: ln.Addr().String(), host: net.JoinHostPort(shellName, port), ended: make(chan error, 1),
	}
	go func() { s.ended <- s.server.Serve(ln) }()
	return s, nil
}

// close ends the gateway and every connection, and waits for it.
func (s *site) close() {
	s.server.Close()
	<-s.ended
}

// link is a new address to log in with, which is good once.
func (s *site) link() (string, error) {
	token, err := s.m.sys.NewLink()
	return "http://" + s.host + "/login#" + token, err
}

// pages are the built shell and desktop; code unavailable when this build has
// none.
func pages() (shell, desktop fs.FS, err error) {
	if shell, err = webui.Shell(); err == nil {
		desktop, err = webui.Desktop()
	}
	return shell, desktop, err
}
