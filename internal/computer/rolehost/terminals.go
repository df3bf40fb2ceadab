package rolehost

import (
	"context"
	"io"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"choiros/internal/choir"
	"choiros/internal/computer/terminals"
	"choiros/internal/guest"
	"choiros/internal/sandbox"
	"choiros/internal/snapshot"
)

// NewTerminal describes a terminal to open.
type NewTerminal struct {
	Title string     // default "Terminal"
	Cwd   string     // below the workspace root, escaped as in file events; default Config.TerminalFolder
	Size  guest.Size // default 24 by 80
	Type  string     // input sent to the shell at its first prompt
}

// usualSize is the size of a terminal before a browser has set one.
var usualSize = guest.Size{Rows: 24, Cols: 80}

// shells are the shells to try for a terminal, in order. bash's prompt also sets the
// browser tab's title to the folder.
var shells = []struct {
	argv   []string
	prompt string
}{
	{[]string{"bash", "-l"}, `\[\e]0;\w\a\e[1;34m\]\w\[\e[0m\] \$ `},
	{[]string{"sh", "-l"}, `$PWD $ `},
}

// Terminals are the terminals that people opened in the Associate's sandbox, whose openings
// and ends are in the log, and beside them the running commands of agents, which List, Attach,
// Close and Shut are about too. Its methods are safe for concurrent use.
type Terminals struct {
	*terminals.Set
	commands *commands
	h        *Host
}

// newTerminals returns the terminals of a host, at first none.
func newTerminals(h *Host) *Terminals {
	ts := &Terminals{commands: newCommands(), h: h}
	ts.Set = terminals.New(terminals.Config{Limit: h.cfg.Terminals, Opened: ts.recordOpening, Ended: ts.recordEnd, Active: h.cfg.TerminalUsed})
	return ts
}

// Open starts a shell in a new terminal, under the user that tools run as, and records the
// opening by role. Code not_found: the folder does not exist.
func (ts *Terminals) Open(ctx context.Context, role choir.Role, n NewTerminal) (terminals.Info, error) {
	info, err := ts.describe(n)
	if err != nil {
		return info, err
	}
	client, err := ts.h.GuestForNew(ctx)
	if err != nil {
		return info, err
	}
	return ts.Set.Open(ctx, role, info, func() (terminals.Process, error) {
		p, err := startShell(client, info)
		if err == nil && n.Type != "" {
			p = &typedInto{Process: p, keys: n.Type}
		}
		return p, err
	})
}

// List returns the terminals of people, in the order of their opening, and then the running
// commands of agents.
func (ts *Terminals) List() []terminals.Info { return append(ts.Set.List(), ts.commands.List()...) }

// Attach adds a view to a terminal or to a running command, see terminals.Set.Attach.
func (ts *Terminals) Attach(id choir.ID, after uint64) (*terminals.View, error) {
	if ts.commands.find(id) != nil {
		return ts.commands.Attach(id, after)
	}
	return ts.Set.Attach(id, after)
}

// Close ends a terminal, or a running command of an agent for role, and waits until it has
// ended. Unknown ones are code not_found.
func (ts *Terminals) Close(ctx context.Context, role choir.Role, id choir.ID) error {
	t, err := ts.commands.Find(id)
	if err != nil {
		return ts.Set.Close(id)
	}
	of := t.Info().Agent
	d, err := choir.NewDraft(choir.DeriveID(id, "end"), choir.CommandEndRequested{Call: id})
	if err != nil {
		return err
	}
	_, err = ts.h.events.AppendAs(ctx, role, d.ForRun(of.Run, of.Task))
	if first := choir.FirstOf(err); err != nil && (first == nil || first.Type != choir.TypeCommandEndRequested) {
		return err
	}
	return ts.commands.Close(id)
}

// Shut ends every terminal and shows no running command any more, see terminals.Set.Shut.
func (ts *Terminals) Shut(words string) {
	ts.commands.lose()
	ts.commands.Shut(words)
	ts.Set.Shut(words)
}

// Resize sets the size of a terminal, until the leading browser sets another.
func (ts *Terminals) Resize(id choir.ID, size guest.Size) error {
	t, err := ts.Find(id)
	if err == nil {
		err = t.Resize(size)
	}
	return err
}

// recordOpening appends the event that role opened a terminal.
func (ts *Terminals) recordOpening(ctx context.Context, t terminals.Info, role choir.Role) error {
	_, err := ts.h.events.Append(ctx, role, choir.TerminalOpened{Terminal: t.ID, Cwd: t.Cwd, Title: t.Title})
	return err
}

// recordEnd appends the event that a terminal ended. An error is only logged.
func (ts *Terminals) recordEnd(t terminals.Info, end terminals.End) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if _, err := ts.h.events.Append(ctx, choir.RoleControl, choir.TerminalClosed{Terminal: t.ID, Reason: end.Reason, Code: end.Code, Signal: end.Signal}); err != nil {
		ts.h.cfg.Log.Warn("the end of a terminal is not recorded", "computer", ts.h.cfg.ID, "terminal", t.ID, "error", err)
	}
}

// typedInto is a shell that receives keys as input after its first output, the prompt:
// earlier input would be echoed twice.
type typedInto struct {
	terminals.Process
	keys string
	once sync.Once
}

// Wait implements terminals.Process.
func (p *typedInto) Wait(stdout, stderr io.Writer) (guest.Exit, error) {
	var typing sync.WaitGroup
	defer typing.Wait() // a process that has ended takes no more
	return p.Process.Wait(writer(func(b []byte) (int, error) {
		n, err := stdout.Write(b)
		p.once.Do(func() { typing.Go(func() { p.Process.Write([]byte(p.keys)) }) })
		return n, err
	}), stderr)
}

// writer implements io.Writer by a function.
type writer func([]byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }

// describe checks the description of a new terminal and returns it with defaults filled in
// and a fresh id. Code invalid: cwd is no path below the workspace.
func (ts *Terminals) describe(n NewTerminal) (terminals.Info, error) {
	info := terminals.Info{Title: tabTitle(n.Title), Cwd: n.Cwd, Size: n.Size, Opened: choir.TimeOf(ts.h.cfg.Now())}
	if info.Cwd == "" {
		info.Cwd = ts.h.cfg.TerminalFolder
	}
	if info.Size == (guest.Size{}) {
		info.Size = usualSize
	}
	raw, err := snapshot.UnescapePath(info.Cwd)
	if err != nil {
		return info, choir.Under("cwd", err)
	}
	if parts := strings.Split(string(raw), "/"); len(info.Cwd) > 4096 || slices.ContainsFunc(parts, func(p string) bool { return p == "" || p == "." || p == ".." }) {
		return info, choir.Refuse("computer.terminal", choir.ReasonPathOutside, choir.TextOf("path", n.Cwd)).At("cwd")
	}
	info.ID, err = ts.h.events.NewID()
	return info, err
}

// tabTitle returns the printable characters of a title, at most 100; "Terminal" for none.
func tabTitle(title string) string {
	title = strings.Join(strings.FieldsFunc(title, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " ")
	if title == "" {
		return "Terminal"
	}
	if r := []rune(title); len(r) > 100 {
		return string(r[:100])
	}
	return title
}

// startShell starts the first available shell. Its context never ends: the process ends
// with the terminal.
func startShell(client *guest.Client, info terminals.Info) (terminals.Process, error) {
	cwd, err := snapshot.UnescapePath(info.Cwd)
	if err != nil {
		return nil, err
	}
	var p *guest.Process
	for _, shell := range shells {
		p, err = client.Exec(context.Background(), guest.ExecSpec{
			Argv: shell.argv, Cwd: path.Join(sandbox.WorkspaceInside, string(cwd)), TTY: &info.Size, Session: true,
			Env: []string{"TERM=xterm-256color", "COLORTERM=truecolor", "PS1=" + shell.prompt, "CHOIR_TERMINAL=" + string(info.ID)},
		})
		if err == nil {
			return p, nil
		}
	}
	return nil, err
}
