package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"choiros/internal/choir"
	"choiros/internal/control/api"
	"choiros/internal/control/gateway"
	"choiros/internal/control/metrics"
	"choiros/internal/control/supervisor"
	"choiros/internal/control/traces"
	"choiros/internal/logbook"
	"choiros/internal/sandbox"
	"choiros/internal/webui"
)

func newUpCommand(a *app) *cobra.Command {
	var link bool
	c := &cobra.Command{
		Use: "up", Args: cobra.NoArgs,
		Example: "  choir up\n  choir up --data /srv/choir\n  choir up --link   # {link}",
		RunE: func(c *cobra.Command, _ []string) error {
			if link {
				return runLink(c.Context(), a)
			}
			return runUp(c.Context(), a)
		},
	}
	c.Flags().StringVar(&a.record, "record", "", "")
	c.Flags().BoolVar(&link, "link", false, "")
	return c
}

// server is a control plane with the port for browsers and the socket for the CLI.
type server struct {
	sys    *supervisor.System
	driver io.Closer
	book   *logbook.File
	log    *slog.Logger
	spans  *traces.Traces // nil if no collector is configured
	api    *api.API
	socket *http.Server
	web    *http.Server
	gate   *gateway.Gateway
	origin string
}

// openServer opens the control plane and returns it with its listeners: the CLI's socket and, with web,
// the port.
func openServer(ctx context.Context, a *app, web bool) (*server, []net.Listener, error) {
	cfg, err := a.systemConfig()
	if err != nil {
		return nil, nil, err
	}
	var listeners []net.Listener
	fail := func(err error) (*server, []net.Listener, error) {
		for _, ln := range listeners {
			ln.Close()
		}
		return nil, nil, err
	}
	modules := ""
	if cfg.Desktop.Modules != nil {
		modules = cfg.Desktop.Modules.Folder()
	}
	state := filepath.Join(a.data, "sandbox")
	drivers, err := newDrivers(cfg.File, state, modules)
	if err != nil {
		return nil, nil, err
	}
	book := logbook.NewFile(a.logPath(), logbook.FileBytes)
	cfg.Log = logbook.New(a.err, book)
	driver := newPool(cfg.File, state, drivers, cfg.Log)
	cfg.Driver, cfg.Ready = driver, driver
	cfg.Cluster, cfg.StartBus = clusterOf(cfg.File, cfg.Log), startBus(cfg.File, cfg.Log)
	spans, err := openTraces(ctx, &cfg)
	if err != nil {
		return fail(errors.Join(err, driver.Close(), book.Close()))
	}
	figures := metrics.New(version)
	cfg.Observer = figures.Computer
	sys, err := supervisor.Open(ctx, cfg)
	if err != nil {
		return fail(errors.Join(err, closeTraces(spans), driver.Close(), book.Close()))
	}
	figures.Watch(sys)
	s := &server{sys: sys, driver: driver, book: book, log: cfg.Log, spans: spans, api: newAPI(sys.Edge(), cfg)}
	closing := func(err error) (*server, []net.Listener, error) { return fail(errors.Join(err, s.close())) }
	ln, err := listenSocket(a.data)
	if err != nil {
		return closing(err)
	}
	listeners = append(listeners, ln)
	s.socket = &http.Server{Handler: socketHandler(s.sys.User(), s.api, figures), ReadHeaderTimeout: 10 * time.Second}
	if !web {
		return s, listeners, nil
	}
	if ln, err = net.Listen("tcp", cfg.File.Listen.Address); err != nil {
		return closing(choir.Refuse("choir.up", choir.ReasonCannotListen, choir.TextOf("address", cfg.File.Listen.Address), choir.TextOf("why", err), choir.TextOf("file", filepath.Join(a.data, "choir.toml"))))
	}
	listeners = append(listeners, ln)
	shell, err := webui.Shell()
	if err != nil {
		a.errorf("choir: %v\n", err)
	}
	desktop, err := webui.Desktop()
	if err != nil {
		a.errorf("choir: %v\n", err)
	}
	s.gate = gateway.New(gateway.Config{
		Site: gateway.NewSite(cfg.File.Listen, strconv.Itoa(ln.Addr().(*net.TCPAddr).Port)), Shell: shell, Desktop: desktop,
		API: s.api, System: sys.Edge(), Auth: sys.Auth(), Metrics: figures, Scrape: sys.Scrape(), Bus: sys.Bus(), Log: cfg.Log,
	})
	s.origin = s.gate.Origin()
	s.web = gateway.NewServer(tracedRequests(spans, s.gate, figures.Requests("web", s.gate.Route, s.gate)))
	listeners[1] = gateway.Bounded(ln)
	return s, listeners, nil
}

// newAPI returns the HTTP API with the limits of the configuration.
func newAPI(sys api.System, cfg supervisor.Config) *api.API {
	l := cfg.File.Limits
	return api.New(sys, api.Config{
		Version: cfg.Version, PromptBurst: l.PromptBurst, PromptWindow: time.Duration(l.PromptWindow) * time.Second, Now: cfg.Now, Log: cfg.Log,
	})
}

// serve runs the control plane until ctx ends, then stops and closes everything in order.
func (s *server) serve(ctx context.Context, listeners []net.Listener) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.sys.Serve(ctx) })
	group.Go(func() error { s.reloadOnHangup(ctx); return nil })
	if s.gate != nil {
		group.Go(func() error { return s.gate.Serve(ctx) })
	}
	for i, srv := range s.servers() {
		group.Go(func() error {
			if err := srv.Serve(listeners[i]); !errors.Is(err, http.ErrServerClosed) {
				return err
			}
			return nil
		})
		group.Go(func() error {
			<-ctx.Done()
			grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			if srv.Shutdown(grace) != nil {
				// WebSockets and followers do not end by themselves.
				return srv.Close()
			}
			return nil
		})
	}
	return errors.Join(group.Wait(), s.close())
}

// close closes everything that openServer opened. Running sandboxes live on.
func (s *server) close() error {
	if s.gate != nil {
		s.gate.Close()
	}
	return errors.Join(s.sys.Close(), closeTraces(s.spans), s.driver.Close(), s.book.Close())
}

// servers returns the HTTP servers of the socket and, if there is one, of the port.
func (s *server) servers() []*http.Server {
	if s.web == nil {
		return []*http.Server{s.socket}
	}
	return []*http.Server{s.socket, s.web}
}

// runUp opens and runs the control plane until ctx ends, and prints its address.
func runUp(ctx context.Context, a *app) error {
	a.limitMemory()
	s, listeners, err := openServer(ctx, a, true)
	if err != nil {
		return err
	}
	login := ""
	if !s.sys.Auth().LoggedIn() {
		token, err := s.sys.NewLink()
		if err != nil {
			return errors.Join(err, s.close())
		}
		login = s.origin + "/login#" + token
	}
	a.printFailed(s.sys.Failed())
	a.printAddress(s.origin, login, s.sys.Models())
	tried := make(chan struct{})
	go func() {
		defer close(tried)
		a.printUnusable(s.sys.UnusableModels(ctx))
	}()
	err = s.serve(ctx, listeners)
	<-tried
	if a.recording != nil {
		err = errors.Join(err, a.recording())
	}
	return errors.Join(err, os.Remove(filepath.Join(a.data, socketName)))
}

// printFailed prints the computers that could not be opened, with their remedies.
func (a *printer) printFailed(failed []api.FailedComputer) {
	for _, f := range failed {
		said, help := choir.SayProblem(string(a.spoken()), choir.Problem{Code: f.Why.Code, Message: f.Why.Msg, Remedy: f.Why.Remedy, Reason: f.Why.Reason, Values: f.Why.Values})
		a.warn("up.failed", "why", said)
		if help != "" {
			a.errorf("  %s\n", help)
		}
	}
}

// printUnusable prints the failed checks of model keys and services, with their remedies.
func (a *printer) printUnusable(checks []sandbox.Check) {
	for _, c := range checks {
		a.errorf("choir: %s: %s\n", c.Name, a.sayTold(c.Detail, c.DetailSaid))
		if c.Remedy != "" {
			a.errorf("  %s\n", a.sentence("doctor.try", "remedy", a.sayTold(c.Remedy, c.RemedySaid)))
		}
	}
}

// printAddress prints the desktop's address, and the login link unless it is empty. The link's token
// is after #, which browsers do not send to servers.
func (a *app) printAddress(origin, login string, m api.ModelState) {
	if a.json {
		a.printJSON(struct {
			Address string `json:"address"`
			Login   string `json:"login,omitempty"`
		}{origin, login})
		return
	}
	a.say("up.at", "version", version, "origin", origin)
	if login == "" {
		a.printf("\n  %s\n", a.sentence("up.loggedIn"))
	} else {
		a.printf("\n  %s\n\n", a.sentence("up.login"))
		a.printLink(login)
	}
	a.printf("\n  %s\n  %s\n", lines(a.modelsInForce(m)), a.sentence("up.stop"))
}

// modelsInForce returns sentences about the models in force, and about those whose price is not known.
func (a *app) modelsInForce(m api.ModelState) string {
	said := a.modelsConnected(m)
	for _, name := range m.Priceless {
		said += " " + a.sentenceOfReason(choir.ReasonModelPriceUnknown, choir.TextOf("name", name))
	}
	return said
}

// modelsConnected returns a sentence about which roles have a model.
func (a *app) modelsConnected(m api.ModelState) string {
	place := a.sentence("told.modelsPlace")
	switch {
	case m.Connected:
		return a.sentence("models.both", "director", m.Director, "associate", m.Associate)
	case m.Director != "":
		return a.sentence("models.noAssociate", "director", m.Director, "place", place)
	case m.Associate != "":
		return a.sentence("models.noDirector", "associate", m.Associate, "place", place)
	}
	return a.sentence("models.none", "place", place, "file", filepath.Join(a.data, "choir.toml"))
}

// sentenceOfReason returns what is said of a reason, and what to do, as one sentence.
func (a *printer) sentenceOfReason(reason choir.Reason, values ...choir.Value) string {
	said, help, _ := choir.SayReason(string(a.spoken()), reason, values)
	first, size := utf8.DecodeRuneInString(said)
	said = string(unicode.ToUpper(first)) + said[size:]
	if help == "" {
		return said + "."
	}
	return said + ": " + help + "."
}

// printLink prints a login link alone on its line, so that it is easily selected in a terminal and read
// by scripts.
func (a *printer) printLink(login string) {
	if a.json {
		a.printJSON(struct {
			Login string `json:"login"`
		}{login})
		return
	}
	a.printf("%s\n", login)
}

// runLink prints a new login link of the running choir.
func runLink(ctx context.Context, a *app) error {
	c, err := a.dial(ctx)
	if err != nil {
		return err
	}
	var link api.Link
	if err := c.post(ctx, "/api/link", nil, &link); err != nil {
		return err
	}
	cfg, _, err := a.loadConfig()
	if err != nil {
		return err
	}
	_, port, err := net.SplitHostPort(cfg.Listen.Address)
	if err != nil {
		return err
	}
	a.printLink(gateway.NewSite(cfg.Listen, port).Origin() + "/login#" + link.Token)
	return nil
}
