// Package api is what the user interfaces and the CLI call: JSON over HTTP,
// described by the OpenAPI document generated from these types.
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

// Computers are the computers of the owner, by their ids. Code not_found for an id that
// none has.
type Computers interface {
	Computers() []Computer
	// Computer finds one. Code unavailable for one that could not be opened.
	Computer(id choir.ID) (Computer, error)
	// Failed lists the computers that could not be opened.
	Failed() []FailedComputer
	Fork(ctx context.Context, id choir.ID, role choir.Role, r ForkRequest) (Forked, error)
	Import(ctx context.Context, name string, r io.Reader) (Imported, error)
	// Compare compares the files of two computers, as they are now.
	Compare(ctx context.Context, id, with choir.ID) (copies.Compared, error)
	// Take takes over the changes of another computer; see copies.Copier.Take.
	Take(ctx context.Context, id choir.ID, role choir.Role, from choir.ID, paths []string, dryRun bool) (treemerge.Applied, error)
}

// Machine is what the control plane says of itself, and whom it lets in.
type Machine interface {
	Health(ctx context.Context) Health
	Doctor(ctx context.Context) Doctor
	Mint(role choir.Role, user, computer choir.ID) (bus.Credentials, error)
	NewLink() (string, error)
	// RenewScrapeToken makes the token that reads /metrics and may do nothing else; an
	// earlier one is void.
	RenewScrapeToken() (string, error)
	RemoveScrapeToken() error
}

// Models are the model services and the other settings in force.
type Models interface {
	Models() ModelState
	// Waits says why a model call of a run waits now; empty when none does.
	Waits(computer, run choir.ID) string
	Settings() Settings
	// Connect tests a model service, keeps its key and puts it in force.
	Connect(ctx context.Context, r ConnectRequest) (Connected, error)
	// Disconnect removes a service that Connect connected, and its key.
	Disconnect(ctx context.Context, name string) (Settings, error)
}

// Desktops are what the control plane does for desktops of computers, by their ids.
type Desktops interface {
	StartDemo(ctx context.Context, id choir.ID, role choir.Role, other DemoParts) (Demo, error)
	// HurryRun plays the rest of a paced run at full speed; any other run goes on as
	// it does. Code not_found when there is no such run.
	HurryRun(ctx context.Context, id, run choir.ID) error
	// Source says how a computer's desktop is served.
	Source(ctx context.Context, id choir.ID) (desktop.Status, error)
}

// System is what the API needs of the control plane.
type System interface {
	Computers
	Machine
	Models
	Desktops
}

// Health is how the control plane is.
type Health struct {
	Status    string            `json:"status" enum:"ok,failing" doc:"ok, or failing."`
	Failing   map[string]string `json:"failing,omitempty" doc:"What fails, and why."`
	Version   string            `json:"version" doc:"Version of choir."`
	UptimeS   int64             `json:"uptime_s" doc:"Seconds since start."`
	Isolation string            `json:"isolation" doc:"Isolation level in force."`
	Bus       string            `json:"bus" doc:"State of the bus."`
	Log       string            `json:"log" doc:"State of the logs."`
}

// Doctor is what this machine can do and what is in force.
type Doctor struct {
	Version   string           `json:"version"`
	Data      string           `json:"data"`
	Isolation sandbox.Report   `json:"isolation"`
	Models    ModelState       `json:"models"`
	Checks    []sandbox.Check  `json:"checks"`
	Settings  []config.Setting `json:"settings"`
}

// ModelState says whether a model is connected.
type ModelState struct {
	Connected bool   `json:"connected" doc:"Director and Associate both have a model."`
	Director  string `json:"director,omitempty" doc:"provider/model of the Director."`
	Associate string `json:"associate,omitempty" doc:"provider/model of the Associate."`
	OnPage    bool   `json:"on_page,omitempty" doc:"One of them was connected on the shell's page."`
	Message   string `json:"message" doc:"One sentence for people."`
}

// DemoParts take the place of parts of the demo, to see that it notices; for the
// CLI only.
type DemoParts struct {
	Recording []byte `json:"recording,omitempty" doc:"Another recording."`
	Repo      []byte `json:"repo,omitempty" doc:"Another repository, as a tar stream."`
	Live      bool   `json:"live,omitempty" doc:"Ask the configured model instead of playing a recording."`
	// Paced is for everybody: it takes the place of nothing.
	Paced bool `json:"paced,omitempty" doc:"Play at the pace of a reader, until the run is wanted faster."`
}

// Demo is a demo that was started.
type Demo struct {
	Run    choir.ID `json:"run" doc:"The run."`
	Repo   string   `json:"repo" doc:"The demo's project under workspace/."`
	Notice string   `json:"notice" doc:"Says that the model's words are a recording."`
}

// API serves the system over HTTP.
type API struct {
	sys     System
	cfg     Config
	mux     *routes
	prompts *rateLimit
	desk    *rateLimit
	typing  *rateLimit
	// connects counts the changes of connections, for all computers together.
	connects *rateLimit
	replays  replays
}

// Config of the API.
type Config struct {
	Version      string
	PromptBurst  int           // prompts of one computer within PromptWindow
	PromptWindow time.Duration // see PromptBurst
	Now          func() time.Time
	Log          *slog.Logger // what lies behind internal errors; nil for nowhere
}

// New registers every operation on a new mux. The caller authenticates: each
// request must carry an auth.Principal.
func New(sys System, cfg Config) *API {
	setUpHuma()
	a := &API{
		sys: sys, cfg: cfg, mux: &routes{},
		prompts: newRateLimit(cfg.PromptBurst, cfg.PromptWindow, cfg.Now), desk: newRateLimit(deskBurst, deskSpan, cfg.Now),
		connects: newRateLimit(connectBurst, connectSpan, cfg.Now),
		typing:   newRateLimit(typingBurst, typingSpan, cfg.Now),
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
	a.computers(a.mux, h)
	a.runs(h)
	a.time(h)
	a.desktop(h)
	a.content(h)
	a.source(h)
	a.repos(a.mux, h)
	a.files(a.mux, h)
	a.folders(h)
	a.trash(h)
	a.terminals(a.mux, h)
	a.documents(h)
	a.drafts(h)
	places(h)
	addVocabulary(reg)
	return a
}

// setUpHuma makes huma's refusals ours, and its lists such that are never null;
// both are settings of that whole package.
var setUpHuma = sync.OnceFunc(func() { huma.NewError, huma.DefaultArrayNullable = newError, false })

// schemaName names a type in the OpenAPI document. Types of other rooms than
// the API and the vocabulary carry their room's name, because names repeat.
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

// ServeHTTP implements http.Handler.
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

// Route returns the pattern of the operation that a request asks for; "none" where
// there is none.
func (a *API) Route(r *http.Request) string {
	if _, pattern := a.mux.Handler(r); pattern != "" {
		return pattern
	}
	return "none"
}

// noRoute makes a problem of what the mux would say in words.
func (a *API) noRoute(w http.ResponseWriter, r *http.Request) {
	said := &silent{header: http.Header{}}
	a.mux.ServeHTTP(said, r)
	if allow := said.header.Get("Allow"); allow != "" {
		w.Header().Set("Allow", allow)
		writeProblem(w, newError(http.StatusMethodNotAllowed, "the method "+r.Method+" is not for this path").(*Problem))
		return
	}
	WriteProblem(w, choir.E("api", choir.CodeNotFound, "there is no %s in this API", r.URL.Path).WithRemedy("/openapi.json lists what there is"))
}

// silent is a response that nobody reads.
type silent struct{ header http.Header }

func (s *silent) Header() http.Header         { return s.header }
func (s *silent) Write(b []byte) (int, error) { return len(b), nil }
func (s *silent) WriteHeader(int)             {}

// In is the path parameter of everything that belongs to a computer.
type In struct {
	Computer choir.ID `path:"computer" doc:"The computer."`
}

// findComputer finds the computer and who asks.
func (a *API) findComputer(ctx context.Context, id choir.ID) (Computer, auth.Principal, error) {
	p, ok := auth.Of(ctx)
	if !ok {
		return Computer{}, p, ProblemOf(choir.E("api", choir.CodeUnauthenticated, "nobody is logged in"))
	}
	c, err := a.sys.Computer(id)
	if err != nil {
		return c, p, ProblemOf(err)
	}
	return c, p, nil
}

// body wraps what is answered.
type body[T any] struct{ Body T }

// answer turns a value and an error into a response, in which no list is null.
func answer[T any](v T, err error) (*body[T], error) {
	if err != nil {
		return nil, ProblemOf(err)
	}
	fillLists(reflect.ValueOf(&v).Elem())
	return &body[T]{v}, nil
}

// op describes an operation. Slow senders are the business of whoever owns the
// connection: huma's own deadline would outlive the body and end the request.
func op(id, method, path, summary string, status int) huma.Operation {
	return huma.Operation{OperationID: id, Method: method, Path: path, Summary: summary, DefaultStatus: status, BodyReadTimeout: -1}
}
