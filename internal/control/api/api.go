// Package api is the control plane's HTTP API for the user interfaces and the CLI: JSON
// over HTTP, described by the OpenAPI document generated from these types.
package api

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"path"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"choiros/internal/bus"
	"choiros/internal/choir"
	"choiros/internal/computer/copies"
	"choiros/internal/computer/treemerge"
	"choiros/internal/config"
	"choiros/internal/control/auth"
	"choiros/internal/desktop"
	"choiros/internal/eventstore"
	"choiros/internal/sandbox"
)

// Computers gives access to the computers by their ids. Code not_found for an id that no
// computer has.
type Computers interface {
	Users
	// Computers lists the open computers.
	Computers() []Computer
	// Computer returns an open computer. Code unavailable: it could not be opened, or
	// hibernates; see Use.
	Computer(id choir.ID) (Computer, error)
	// Failed lists the computers that could not be opened, Hibernated the computers that are
	// closed until a request names them.
	Failed() []FailedComputer
	Hibernated() []HibernatedComputer
	Fork(ctx context.Context, id choir.ID, role choir.Role, r ForkRequest) (Forked, error)
	Import(ctx context.Context, name string, r io.Reader) (Imported, error)
	// Compare compares the files of two computers, as they are now.
	Compare(ctx context.Context, id, with choir.ID) (copies.Compared, error)
	// TakeChanges merges the changes of the computer from into a computer; see
	// copies.Copier.TakeChanges.
	TakeChanges(ctx context.Context, id choir.ID, role choir.Role, from choir.ID, paths []string, dryRun bool) (treemerge.Applied, error)
}

// Machine reports the state of the control plane, and issues credentials, login links
// and the metrics token.
type Machine interface {
	Health(ctx context.Context) Health
	Doctor(ctx context.Context) Doctor
	Mint(role choir.Role, user, computer choir.ID) (bus.Credentials, error)
	NewLink() (string, error)
	// RenewScrapeToken creates the token that only permits reading /metrics, and
	// invalidates the previous one.
	RenewScrapeToken() (string, error)
	RemoveScrapeToken() error
	// ReloadEgress puts [egress] and [[approve]] of the configuration file in force. An error
	// leaves the old one.
	ReloadEgress(ctx context.Context) (EgressReloaded, error)
	// ChooseEgress keeps and puts in force the mode that the owner chose. Code conflict: the
	// configuration file gives one.
	ChooseEgress(ctx context.Context, mode choir.EgressMode) (EgressReloaded, error)
	// ChooseListed takes a host away from the list of mode git+pkg, or puts it back if out. Code
	// invalid: the list does not have it; conflict: the configuration file gives those taken away.
	ChooseListed(ctx context.Context, host string, out bool) (EgressReloaded, error)
}

// Models reads and changes the model services and the other settings in force.
type Models interface {
	Models() ModelState
	// Waits returns the reason why a model call of a run waits now; "" if none waits.
	Waits(computer, run choir.ID) string
	Settings() Settings
	// ChoosePhrase sets the phrase by which the owner recognizes the shell; empty for none.
	ChoosePhrase(ctx context.Context, phrase string) (Settings, error)
	// Connect tests a model service, stores its key and puts it in force.
	Connect(ctx context.Context, r ConnectRequest) (Connected, error)
	// TestModels asks each model in force one question, within a minute.
	TestModels(ctx context.Context, r TestModelsRequest) (TestedModels, error)
	// Disconnect removes a service that was connected with Connect, and its key.
	Disconnect(ctx context.Context, name string) (Settings, error)
}

// Desktops runs demos and reports the desktop's source, for a computer by its id.
type Desktops interface {
	StartDemo(ctx context.Context, id choir.ID, role choir.Role, other DemoParts) (Demo, error)
	// HurryRun plays the rest of a paced demo run at full speed, and does nothing to any
	// other run. Code not_found: there is no such run.
	HurryRun(ctx context.Context, id, run choir.ID) error
	// Source returns the state of a computer's desktop: whether the bundle or a
	// development server serves it.
	Source(ctx context.Context, id choir.ID) (desktop.Status, error)
}

// System is the part of the control plane that the API needs.
type System interface {
	Owners
	Computers
	Machine
	Models
	Desktops
	// RotateVault encrypts the vault under a new master key.
	RotateVault(ctx context.Context) error
}

// Health is the health of the control plane and its parts.
type Health struct {
	Status    string            `json:"status" enum:"ok,failing" doc:"ok, or failing."`
	Failing   map[string]string `json:"failing,omitempty" doc:"What fails, and why."`
	Version   string            `json:"version" doc:"Version of choir."`
	UptimeS   int64             `json:"uptime_s" doc:"Seconds since start."`
	Isolation string            `json:"isolation" doc:"Isolation level in force."`
	Bus       string            `json:"bus" doc:"State of the bus."`
	Log       string            `json:"log" doc:"State of the logs."`
}

// Doctor describes the capabilities of this machine and the settings in force.
type Doctor struct {
	Version   string           `json:"version"`
	Data      string           `json:"data"`
	Isolation sandbox.Report   `json:"isolation"`
	Models    ModelState       `json:"models"`
	Checks    []sandbox.Check  `json:"checks"`
	Settings  []config.Setting `json:"settings"`
}

// ModelState is the pair of models in force, and whether both roles have one.
type ModelState struct {
	Connected bool     `json:"connected" doc:"Director and Associate both have a model."`
	Director  string   `json:"director,omitempty" doc:"provider/model of the Director."`
	Associate string   `json:"associate,omitempty" doc:"provider/model of the Associate."`
	OnPage    bool     `json:"on_page,omitempty" doc:"One of them was connected on the shell's page."`
	Priceless []string `json:"priceless,omitempty" doc:"Models in force whose price is not known."`
	Message   string   `json:"message" doc:"One English sentence for people."`
}

// DemoParts replace parts of the demo, to test that the demo notices. Only the CLI may
// set any but Paced.
type DemoParts struct {
	Recording []byte `json:"recording,omitempty" doc:"Another recording."`
	Repo      []byte `json:"repo,omitempty" doc:"Another repository, as a tar stream."`
	Live      bool   `json:"live,omitempty" doc:"Ask the configured model instead of playing a recording."`
	// Paced is open to every caller, because it replaces nothing.
	Paced bool `json:"paced,omitempty" doc:"Play at the pace of a reader, until the run is wanted faster."`
}

// Demo is a started demo.
type Demo struct {
	Run    choir.ID    `json:"run" doc:"The run."`
	Repo   string      `json:"repo" doc:"The demo's project under workspace/."`
	Models *ModelState `json:"models,omitempty" doc:"Models that answer; none where a recording does."`
}

// API is the HTTP handler of all operations.
type API struct {
	finder
	sys     System
	cfg     Config
	mux     *routes
	prompts *rateLimit
	// connects limits the changes of connections, for all computers together.
	connects *rateLimit
	replays  replays
}

// Config is the configuration of the API.
type Config struct {
	Version      string
	PromptBurst  int           // prompts of one computer within PromptWindow
	PromptWindow time.Duration // see PromptBurst
	Now          func() time.Time
	Log          *slog.Logger // receives the causes of internal errors; may be nil
}

// New returns an API with all its routes. The caller authenticates: each request must
// carry an auth.Principal in its context.
func New(sys System, cfg Config) *API {
	setUpHuma()
	a := &API{
		finder: finder{sys}, sys: sys, cfg: cfg, mux: &routes{owners: sys},
		prompts:  newRateLimit(cfg.PromptBurst, cfg.PromptWindow, cfg.Now),
		connects: newRateLimit(connectBurst, connectSpan, cfg.Now),
	}
	hc := huma.DefaultConfig("ChoirOS", cfg.Version)
	hc.DocsPath, hc.SchemasPath = "", ""
	hc.CreateHooks = nil
	reg := huma.NewMapRegistry(schemaPrefix, schemaName)
	hc.Components.Schemas = reg
	hc.Transformers = append(hc.Transformers, func(ctx huma.Context, _ string, v any) (any, error) {
		if p, ok := v.(*Problem); ok {
			r, _ := humago.Unwrap(ctx)
			p.log(cfg.Log, r)
		}
		return v, nil
	})
	h := humago.New(a.mux, hc)
	reg.RegisterTypeAlias(reflect.TypeFor[choir.Time](), reflect.TypeFor[time.Time]())
	a.system(h)
	a.diagnosis(h)
	a.settings(h)
	a.egress(h)
	a.approvals(h)
	a.vault(h)
	a.computers(a.mux, h)
	a.runs(h)
	a.time(h)
	windowRoutes{a.finder, newRateLimit(deskBurst, deskSpan, cfg.Now)}.register(h)
	contentRoutes{a.finder}.register(h)
	a.source(h)
	a.repos(a.mux, h)
	a.files(a.mux, h)
	a.folders(h)
	a.trash(h)
	a.terminals(a.mux, h)
	documentRoutes{a.finder}.register(h)
	draftRoutes{a.finder, newRateLimit(typingBurst, typingSpan, cfg.Now)}.register(h)
	places(h)
	addVocabulary(reg)
	return a
}

// setUpHuma makes huma answer its own refusals as a Problem, and treat lists as never
// null in the OpenAPI document. Both are global settings of huma.
var setUpHuma = sync.OnceFunc(func() { huma.NewError, huma.DefaultArrayNullable = newError, false })

// schemaName returns the name of a type in the OpenAPI document. Types outside the API
// and the vocabulary are prefixed with their package's name, because names repeat.
func schemaName(t reflect.Type, hint string) string {
	name := huma.DefaultSchemaNamer(t, hint)
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	switch room := path.Base(t.PkgPath()); room {
	case ".", "api", "choir":
		return name
	case "desk", "selfsource", "moments", "rewind", "copies", "collection": // parts of a computer
		return "Computer" + name
	default:
		return strings.ToUpper(room[:1]) + room[1:] + name
	}
}

// ServeHTTP serves the operations of the API. A POST with an Idempotency-Key that was
// answered before gets the same answer.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if _, pattern := a.mux.Handler(r); pattern == "" {
		a.noRoute(w, r)
		return
	}
	if r.Method == http.MethodGet && r.Header.Get("Upgrade") == "" {
		r = r.WithContext(eventstore.MayLag(r.Context())) // it shows, and decides nothing
	}
	a.replays.serve(w, r, a.mux)
}

// Route returns the pattern of the route that serves a request; "none" if there is none.
func (a *API) Route(r *http.Request) string {
	if _, pattern := a.mux.Handler(r); pattern != "" {
		return pattern
	}
	return "none"
}

// noRoute answers a request without a route with a problem, in place of the mux's plain
// text: 405 with the header Allow for another method, else 404.
func (a *API) noRoute(w http.ResponseWriter, r *http.Request) {
	said := &silent{header: http.Header{}}
	a.mux.ServeHTTP(said, r)
	if allow := said.header.Get("Allow"); allow != "" {
		w.Header().Set("Allow", allow)
		writeProblem(w, newError(http.StatusMethodNotAllowed, "the method "+r.Method+" is not for this path").(*Problem))
		return
	}
	WriteProblem(w, choir.Refuse("api", choir.ReasonNoOperation, choir.TextOf("path", r.URL.Path)))
}

// silent is an http.ResponseWriter that discards the answer and keeps its headers.
type silent struct{ header http.Header }

func (s *silent) Header() http.Header         { return s.header }
func (s *silent) Write(b []byte) (int, error) { return len(b), nil }
func (s *silent) WriteHeader(int)             {}

// In is the path parameter of operations on a computer.
type In struct {
	Computer choir.ID `path:"computer" doc:"The computer."`
}

// computerByID returns the parts of computers by their ids; see System.
type computerByID interface {
	Computer(id choir.ID) (Computer, error)
}

// finder finds the computers that requests are about.
type finder struct{ computers computerByID }

// findComputer returns a computer and the authenticated caller. Code unauthenticated:
// the request has no caller.
func (f finder) findComputer(ctx context.Context, id choir.ID) (Computer, auth.Principal, error) {
	p, ok := auth.Of(ctx)
	if !ok {
		return Computer{}, p, ProblemOf(choir.Refuse("api", choir.ReasonNobodyLoggedIn))
	}
	c, err := f.computers.Computer(id)
	if err != nil {
		return c, p, ProblemOf(err)
	}
	return c, p, nil
}

// body is a response with a JSON body.
type body[T any] struct{ Body T }

// answer returns the response with body v, whose nil lists become empty ones; with an
// error it returns the error's problem.
func answer[T any](v T, err error) (*body[T], error) {
	if err != nil {
		return nil, ProblemOf(err)
	}
	fillLists(reflect.ValueOf(&v).Elem())
	return &body[T]{v}, nil
}

// op returns the description of an operation. It sets no deadline for reading the body:
// the gateway bounds slow senders, and huma's own deadline would outlive the body and
// abort the request.
func op(id, method, path, summary string, status int) huma.Operation {
	return huma.Operation{OperationID: id, Method: method, Path: path, Summary: summary, DefaultStatus: status, BodyReadTimeout: -1}
}
