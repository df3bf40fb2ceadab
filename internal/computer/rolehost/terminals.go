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

// NewTerminal is a terminal to be opened.
type NewTerminal struct {
	Title string     // default "Terminal"
	Cwd   string     // below the workspace root, escaped as in file events; default Config.TerminalFolder
	Size  guest.Size // default 24 by 80
	Type  string     // typed once the shell takes words
}

// The size of a terminal that nobody has looked at.
var usualSize = guest.Size{Rows: 24, Cols: 80}

// shells are what may run behind a terminal, the first that is there. The prompt
// also tells the browser the folder, as the tab's title.
var shells = []struct {
	argv   []string
	prompt string
}{
	{[]string{"bash", "-l"}, `\[\e]0;\w\a\e[1;34m\]\w\[\e[0m\] \$ `},
	{[]string{"sh", "-l"}, `$PWD $ `},
}

// Terminals are the terminals that people opened in the Associate's sandbox. Their
// openings and ends are in the log. The methods may be called at once.
type Terminals struct {
	*terminals.Set
	h *Host
}

// newTerminals makes the terminals of a host.
func newTerminals(h *Host) *Terminals {
	ts := &Terminals{h: h}
	ts.Set = terminals.New(terminals.Config{Limit: h.cfg.Terminals, Opened: ts.recordOpening, Ended: ts.recordEnd, Active: h.cfg.TerminalUsed})
	return ts
}

// Open starts a shell behind a new terminal, as the user that tools run as, and
// records it as opened by the role. Code not_found when the folder is not there.
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

// Resize makes a terminal as large as this, until the browser that leads says
// otherwise.
func (ts *Terminals) Resize(id choir.ID, size guest.Size) error {
	t, err := ts.Find(id)
	if err == nil {
		err = t.Resize(size)
	}
	return err
}

// recordOpening appends that a role opened a terminal.
func (ts *Terminals) recordOpening(ctx context.Context, t terminals.Info, role choir.Role) error {
	_, err := ts.h.events.Append(ctx, role, choir.TerminalOpened{Terminal: t.ID, Cwd: t.Cwd, Title: t.Title})
	return err
}

// recordEnd appends how a terminal ended. The terminal is gone whatever the log can
// take, so an error is only logged.
func (ts *Terminals) recordEnd(t terminals.Info, end terminals.End) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if _, err := ts.h.events.Append(ctx, choir.RoleControl, choir.TerminalClosed{Terminal: t.ID, Reason: end.Reason, Code: end.Code, Signal: end.Signal}); err != nil {
		ts.h.cfg.Log.Warn("the end of a terminal is not recorded", "computer", ts.h.cfg.ID, "terminal", t.ID, "error", err)
	}
}

// typedInto is a shell that is typed into once: when it has printed its prompt,
// since what comes earlier is echoed twice.
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

// writer is a function as an io.Writer.
type writer func([]byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }

// describe checks what is asked for, and fills in what is not.
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
		return info, choir.Invalid("cwd", "%q is no path below the workspace", n.Cwd)
	}
	info.ID, err = ts.h.events.NewID()
	return info, err
}

// tabTitle keeps what can be read of a title.
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

// startShell starts the first shell that is there. The process lives until the
// terminal ends, so its context is nobody's.
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
