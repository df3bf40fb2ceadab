package rolehost

import (
	"bufio"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/computer/terminals"
	"choiros/internal/guest"
	"choiros/internal/sandbox/fake"
)

// shell stands in for a shell: it says where it is, repeats what is typed, and ends
// with code 7 when it is told to.
func shell(_ context.Context, p *fake.Process) int {
	fmt.Fprintf(p.Stdout, "%s at %s $ ", p.Argv[0], filepath.Base(p.Dir))
	for in := bufio.NewScanner(p.Stdin); in.Scan(); {
		if in.Text() == "exit 7" {
			return 7
		}
		fmt.Fprintf(p.Stdout, "said %s $ ", in.Text())
	}
	return 0
}

// attach lets a browser look at a terminal until the test ends.
func (l *lab) attach(id choir.ID) *terminals.View {
	l.t.Helper()
	view := must(l.Terminals().Attach(id, 0))(l.t)
	l.t.Cleanup(view.Close)
	return view
}

// read reads what a terminal shows until that has the words, or until the terminal's
// end when there are none.
func (l *lab) read(view *terminals.View, words string) (out string, end *terminals.End) {
	l.t.Helper()
	for {
		u := must(view.Next(l.within()))(l.t)
		out += string(u.Data)
		if u.End != nil || words != "" && strings.Contains(out, words) {
			return out, u.End
		}
	}
}

func TestATerminalIsRecordedFromItsOpeningToItsEnd(t *testing.T) {
	used := make(chan struct{}, 1)
	g := newGround(t, map[string]fake.Program{"bash": shell})
	l := g.serve(func(c *Config) {
		c.TerminalUsed = func() {
			select {
			case used <- struct{}{}:
			default:
			}
		}
	})
	if err := l.client().Mkdir(l.within(), "here", 0o755); err != nil {
		t.Fatal(err)
	}
	info := must(l.Terminals().Open(l.within(), choir.RoleDesktop, NewTerminal{Title: " one\x1b[31m\n two ", Cwd: "here", Type: "hello\n"}))(t)
	view := l.attach(info.ID)
	if out, _ := l.read(view, "said hello"); !strings.HasPrefix(out, "bash at here $ ") {
		t.Errorf("it shows %q", out)
	}
	<-used
	if list := l.Terminals().List(); len(list) != 1 || list[0].ID != info.ID || list[0].Size != usualSize {
		t.Errorf("open are %+v", list)
	}
	if err := view.Type([]byte("exit 7\n")); err != nil {
		t.Fatal(err)
	}
	if _, end := l.read(view, ""); end.Reason != choir.TerminalExited || end.Code != 7 {
		t.Errorf("it ended with %+v", end)
	}
	l.eventually(func() bool { return len(l.recorded(choir.TypeTerminalClosed)) == 1 })
	opening := l.recorded(choir.TypeTerminalOpened)[0]
	if p := payload[choir.TerminalOpened](t, opening); p.Terminal != info.ID || p.Title != "one [31m two" || p.Cwd != "here" || opening.Source != choir.SourceDesktop {
		t.Errorf("by %q: %+v", opening.Source, p)
	}
	ending := l.recorded(choir.TypeTerminalClosed)[0]
	if p := payload[choir.TerminalClosed](t, ending); p.Terminal != info.ID || p.Code != 7 || ending.Source != choir.SourceSystem {
		t.Errorf("by %q: %+v", ending.Source, p)
	}
}

func TestATerminalBeginsInItsFolderWithTheFirstShellThatIsThere(t *testing.T) {
	g := newGround(t, map[string]fake.Program{"sh": shell})
	l := g.serve(func(c *Config) { c.TerminalFolder = "projects" })
	if err := l.client().Mkdir(l.within(), "projects", 0o755); err != nil {
		t.Fatal(err)
	}
	info := must(l.Terminals().Open(l.within(), choir.RoleShell, NewTerminal{}))(t)
	if out, _ := l.read(l.attach(info.ID), "$ "); out != "sh at projects $ " {
		t.Errorf("it shows %q", out)
	}
	for name, c := range map[string]struct {
		cwd  string
		code choir.Code
	}{
		"up": {"../etc", choir.CodeInvalid}, "the root": {"/etc", choir.CodeInvalid}, "a dot": {"a/.", choir.CodeInvalid}, "no folder": {"none", choir.CodeNotFound},
	} {
		if _, err := l.Terminals().Open(l.within(), choir.RoleShell, NewTerminal{Cwd: c.cwd}); choir.CodeOf(err) != c.code {
			t.Errorf("%s: %v, want the code %s", name, err, c.code)
		}
	}
	if err := l.Terminals().Resize(info.ID, guest.Size{Rows: 3, Cols: 4}); err != nil {
		t.Error(err)
	}
	l.Terminals().Shut("choir was stopped")
	if open := l.Terminals().List(); len(open) != 0 {
		t.Errorf("open are %+v", open)
	}
	ends := l.recorded(choir.TypeTerminalClosed)
	if len(ends) != 1 || payload[choir.TerminalClosed](t, ends[0]).Reason != choir.TerminalLost {
		t.Errorf("%+v", ends)
	}
}
