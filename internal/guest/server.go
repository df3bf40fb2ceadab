package guest

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
)

// Config configures a Server.
type Config struct {
	Version   string
	Listener  net.Listener // the control door; the server closes it
	Workspace string       // folder of files and snapshots; empty for a sandbox without one
	Worktrees string       // folder of the worktrees, each with its id as its name; empty for none
	GuestDir  string       // folder of the role binaries
	// Orphan is how long the server lives without an attachment; zero is for ever.
	Orphan time.Duration
	// Allow decides about a peer of the control door; required.
	Allow func(net.Conn) error
	// Env is the environment of roles and tools, see Environment.
	Env []string
	// Programs starts roles and commands; required. Choir-init's is a Reaper.
	Programs Programs
	// Session is the command that calls RunSession, with the program's path and
	// arguments to be added; without it no session can be had.
	Session []string
	// Proxy is the loopback address that leads to the egress door; empty for none.
	Proxy string
	// Names is the address at which DNS questions are answered by the egress policy, from the
	// first attachment on; empty for none.
	Names string
	// Tools, when given, is used in the place of Proxy; the server closes it.
	Tools net.Listener
	// DialPort connects to a port inside; nil dials loopback. Code unavailable when
	// nothing listens there.
	DialPort func(ctx context.Context, port int) (net.Conn, error)
}

// Server is choir-init's end of the control protocol.
type Server struct {
	cfg       Config
	started   time.Time
	presence  *presence
	roles     roles
	offers    offers
	tree      *tree // nil without a workspace
	worktrees worktrees
	handlers  sync.WaitGroup
	// terminals are the commands that have one.
	terminals terminalSet
	names     *names
	tunnels   chan struct{} // the connections to virtual addresses; full at maxForwards
}

// NewServer returns a server that does nothing until Serve.
func NewServer(cfg Config) *Server {
	s := &Server{
		cfg: cfg, started: time.Now(), presence: newPresence(cfg.Orphan), tree: newTree(cfg.Workspace), worktrees: worktrees{dir: cfg.Worktrees, known: map[choir.ID]*tree{}},
		offers: newOffers(), tunnels: make(chan struct{}, maxForwards),
	}
	s.names = newNames(s)
	return s
}

// Serve answers requests until ctx ends or no control plane was attached for
// Config.Orphan, which is code timeout. Before it returns it ends every process that it
// started and waits for its goroutines.
func (s *Server) Serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { s.cfg.Listener.Close() })
	defer stop()
	tools := s.cfg.Tools
	if tools == nil && s.cfg.Proxy != "" {
		var err error
		if tools, err = listenForward(s.cfg.Proxy); err != nil {
			return err
		}
	}
	if tools != nil {
		stop := context.AfterFunc(ctx, func() { tools.Close() })
		defer stop()
		s.handlers.Go(func() { s.forward(ctx, tools) })
	}
	s.handlers.Go(func() { s.names.run(ctx) })
	stopCollecting := s.collect()
	s.handlers.Go(func() { s.accept(ctx, cancel) })
	err := s.presence.wait(ctx)
	cancel()
	s.handlers.Wait()
	stopCollecting()
	return err
}

// collect starts to reap ended programs and returns a function that stops it. It does not
// depend on the context of Serve, because programs that end during shutdown must be
// reaped too.
func (s *Server) collect() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var served sync.WaitGroup
	served.Go(func() { s.cfg.Programs.Collect(ctx) })
	return func() {
		cancel()
		served.Wait()
	}
}

func (s *Server) accept(ctx context.Context, cancel context.CancelFunc) {
	for {
		conn, err := s.cfg.Listener.Accept()
		if hasNoRoom(err) && ctx.Err() == nil {
			select {
			case <-time.After(crowdedPause):
			case <-ctx.Done():
			}
			continue
		}
		if err != nil {
			cancel() // a door that cannot be opened again ends the sandbox
			return
		}
		s.handlers.Go(func() { s.serveConn(ctx, conn) })
	}
}

// crowdedPause is the time until the next try to accept a connection for which there was no room.
const crowdedPause = 20 * time.Millisecond

// hasNoRoom reports whether an error of Accept passes: programs in the sandbox take its descriptors and
// its memory, and give them back.
func hasNoRoom(err error) bool {
	return slices.ContainsFunc([]error{unix.EMFILE, unix.ENFILE, unix.ENOMEM, unix.ENOBUFS, unix.ECONNABORTED}, func(passing error) bool {
		return errors.Is(err, passing)
	})
}

func (s *Server) serveConn(ctx context.Context, conn net.Conn) {
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	w := newWire(conn)
	if err := s.answer(ctx, w); err != nil {
		w.writeError(err) // the peer may be gone; then nobody is there to be told
	}
}

// requestPatience is the time that a client has to send its request.
const requestPatience = 10 * time.Second

func (s *Server) answer(ctx context.Context, w *wire) error {
	w.conn.SetReadDeadline(time.Now().Add(requestPatience))
	t, payload, err := w.read()
	if err != nil {
		return err
	}
	// Only now, because a peer hears a refusal for certain only when what it sent
	// was read.
	if _, shared := w.conn.(*muxStream); !shared { // the stream that it shares was allowed
		if err := s.cfg.Allow(w.conn); err != nil {
			return err
		}
	}
	w.conn.SetReadDeadline(time.Time{})
	if t != frameRequest {
		return unexpected(t, payload)
	}
	var r request
	if err := choir.DecodeStrict(payload, &r); err != nil {
		return choir.Under("request", err)
	}
	handle, ok := handlers[r.Op]
	if !ok {
		return choir.Invalid("request.op", "%q is not an operation", clip(string(r.Op), 40))
	}
	reply, err := handle(s, ctx, w, &r)
	if err != nil || reply == nil {
		return err
	}
	return w.writeJSON(frameReply, reply)
}

// handler handles one operation. A nil reply without an error means that the handler has
// already sent everything.
type handler func(s *Server, ctx context.Context, w *wire, r *request) (reply any, err error)

var handlers map[op]handler

// init fills the table of handlers; an initialiser would be a cycle, because handlers
// refer to the table.
func init() {
	handlers = map[op]handler{
		opHello:       (*Server).hello,
		opAttach:      (*Server).attach,
		opStartRole:   (*Server).startRole,
		opCredentials: (*Server).sendCredentials,
		opStopRole:    (*Server).stopRole,
		opExec:        (*Server).exec,
		opScan:        (*Server).scan,
		opRestore:     (*Server).restore,
		opStat:        (*Server).stat,
		opList:        (*Server).list,
		opRead:        (*Server).readFile,
		opWrite:       (*Server).writeFile,
		opMkdir:       (*Server).mkdir,
		opRename:      (*Server).rename,
		opRemove:      (*Server).remove,
		opCopy:        (*Server).copy,
		opFind:        (*Server).find,
		opUnpack:      (*Server).unpack,
		opDial:        (*Server).dialPort,
		opAccept:      (*Server).acceptStream,
		opForeground:  (*Server).countForeground,
		opMux:         (*Server).serveMux,
	}
}

func (s *Server) hello(context.Context, *wire, *request) (any, error) {
	info := &Info{Version: s.cfg.Version, BootMS: time.Since(s.started).Milliseconds()}
	if p := s.roles.running(); p != nil {
		info.Role, info.RolePID = p.name, p.program.PID()
	}
	return info, nil
}
