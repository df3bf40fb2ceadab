package computer

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
	Cwd   string     // below the workspace root, escaped as in file events; default the folder of projects
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

// OpenTerminal starts a shell behind a terminal in the Associate's sandbox, as
// the user that tools run as. Code not_found when the folder is not there.
func (c *Computer) OpenTerminal(ctx context.Context, role choir.Role, n NewTerminal) (terminals.Info, error) {
	info, err := c.newTerminal(n)
	if err != nil {
		return info, err
	}
	client, err := c.roles.GuestForNew(ctx)
	if err != nil {
		return info, err
	}
	return c.terminals.Open(ctx, role, info, func() (terminals.Process, error) {
		p, err := startShell(client, info)
		if err == nil && n.Type != "" {
			p = &typedInto{Process: p, keys: n.Type}
		}
		return p, err
	})
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

func (c *Computer) newTerminal(n NewTerminal) (terminals.Info, error) {
	info := terminals.Info{Title: tabTitle(n.Title), Cwd: n.Cwd, Size: n.Size, Opened: choir.TimeOf(c.cfg.Now())}
	if info.Cwd == "" {
		info.Cwd = projects
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
	info.ID, err = c.newID()
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

// Terminals lists the terminals that are open.
func (c *Computer) Terminals() []terminals.Info { return c.terminals.List() }

// ResizeTerminal makes a terminal as large as this, until the browser that leads
// says otherwise.
func (c *Computer) ResizeTerminal(id choir.ID, size guest.Size) error {
	t, err := c.terminals.Find(id)
	if err == nil {
		err = t.Resize(size)
	}
	return err
}

// CloseTerminal ends a terminal and everything that was started in it.
func (c *Computer) CloseTerminal(id choir.ID) error { return c.terminals.Close(id) }

// WatchTerminal lets a browser look at a terminal from an offset of its output
// on. The caller must close the view.
func (c *Computer) WatchTerminal(id choir.ID, after uint64) (*terminals.View, error) {
	return c.terminals.Attach(id, after)
}

// newTerminals makes the set, whose openings and ends are in the log.
func (c *Computer) newTerminals() *terminals.Set {
	return terminals.New(terminals.Config{
		Limit: c.cfg.Terminals,
		Opened: func(ctx context.Context, t terminals.Info, role choir.Role) error {
			_, err := c.events.Append(ctx, role, choir.TerminalOpened{Terminal: t.ID, Cwd: t.Cwd, Title: t.Title})
			return err
		},
		Ended: func(t terminals.Info, end terminals.End) {
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			defer cancel()
			// The terminal is gone whatever the log can take.
			if _, err := c.events.Append(ctx, choir.RoleControl, choir.TerminalClosed{Terminal: t.ID, Reason: end.Reason, Code: end.Code, Signal: end.Signal}); err != nil {
				c.cfg.Log.Warn("the end of a terminal is not recorded", "computer", c.cfg.ID, "terminal", t.ID, "error", err)
			}
		},
		Active: c.hands.moved,
	})
}

// lostTerminals are those that a session which did not end in order left open.
func (c *Computer) lostTerminals(ctx context.Context, session *choir.Event) ([]choir.Payload, error) {
	var open []choir.ID
	for e, err := range c.store.Events(ctx, session.Seq+1, 0) {
		if err != nil {
			return nil, err
		}
		if e.Type != choir.TypeTerminalOpened && e.Type != choir.TypeTerminalClosed {
			continue
		}
		p, err := choir.ReadPayload(e.Type, e.Payload)
		if err != nil {
			return nil, err
		}
		switch p := p.(type) {
		case *choir.TerminalOpened:
			open = append(open, p.Terminal)
		case *choir.TerminalClosed:
			open = slices.DeleteFunc(open, func(id choir.ID) bool { return id == p.Terminal })
		}
	}
	out := make([]choir.Payload, len(open))
	for i, id := range open {
		out[i] = choir.TerminalClosed{Terminal: id, Reason: choir.TerminalLost, Code: -1}
	}
	return out, nil
}
