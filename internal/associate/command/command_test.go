package command_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"choiros/internal/associate/command"
	"choiros/internal/associate/proctree"
	"choiros/internal/associate/scope"
	"choiros/internal/associate/tools"
	"choiros/internal/choir"
)

// The test binary is also the tree process: it is started again with "tree".
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "tree" {
		if err := proctree.Serve(os.NewFile(3, "owner"), os.Args[2], os.Args[3:]...); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

const task = choir.ID("01890000-0000-7000-8000-000000000002")

// bench is the commands of a task in the scope of an empty workspace, and what came of them.
type bench struct {
	*command.Commands
	scope *scope.Scope
	ends  command.Ends
	call  int
	waits error // of what is about to begin

	mu     sync.Mutex // guards all below
	ran    []choir.CommandRun
	live   strings.Builder
	stored map[choir.Digest]string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	set, err := scope.NewSet(scope.Config{
		Workspace: t.TempDir(), Scratch: t.TempDir(), Worktrees: t.TempDir(), Env: []string{"PATH=" + os.Getenv("PATH"), "GORACE=" + os.Getenv("GORACE")},
		TreeArgv: []string{os.Args[0], "tree"}, Lock: t.Name() + strconv.Itoa(os.Getpid()),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { set.Close() })
	b := &bench{call: 1, stored: map[choir.Digest]string{}}
	if b.scope, err = set.Open(""); err != nil {
		t.Fatal(err)
	}
	now := choir.Time(1_700_000_000_000)
	b.Commands = command.New(command.Config{
		Life: t.Context(), Task: task, Place: b, Screen: b, Ends: &b.ends,
		Now: func() choir.Time { now++; return now },
		Live: func(text string) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.live.WriteString(text)
		},
		Wait: func(context.Context) error { return b.waits },
		Call: func() int { return b.call },
		Store: func(content []byte) (choir.Digest, error) {
			if len(content) == 0 {
				return "", nil
			}
			d := choir.DigestOf(content)
			b.stored[d] = string(content)
			return d, nil
		},
		Ran: func(run choir.CommandRun) { b.ran = append(b.ran, run) },
	})
	return b
}

func (b *bench) Tree() *proctree.Tree { return b.scope.Tree() }
func (b *bench) Root() string         { return b.scope.Root }
func (b *bench) Confined() bool       { return b.scope.Confined }
func (b *bench) Temp() string         { return b.scope.Temp }
func (b *bench) FindProgram(name string) (string, error) {
	return proctree.LookPath(name, b.scope.Root, b.scope.Env(task, 0))
}
func (b *bench) Environment(call int, more []choir.EnvVar) []string {
	env := b.scope.Env(task, call)
	for _, v := range more {
		env = append(env, v.Name+"="+v.Value)
	}
	return env
}

func (b *bench) ShowCommand(_ context.Context, r choir.TaskOutputRequest) (choir.TaskOutputReply, error) {
	return choir.TaskOutputReply{Next: r.From + int64(len(r.Chunk))}, nil
}

// TestACommandsOutputIsStoredAndShown runs one command with output of both kinds.
func TestACommandsOutputIsStoredAndShown(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := choir.Command{Shell: "echo $word; echo bad >&2; exit 3", Env: []choir.EnvVar{{Name: "word", Value: "good"}}}
	run, out, err := b.Run(t.Context(), command.Order{Command: c, Shown: c, Dir: b.Root()})
	if err != nil || run.ExitCode != 3 || string(out) != "good\nbad\n" {
		t.Fatalf("it ended with %d and %q: %v", run.ExitCode, out, err)
	}
	if b.stored[run.Stdout] != "good\n" || b.stored[run.Stderr] != "bad\n" {
		t.Errorf("stored is %q", b.stored)
	}
	if b.mu.Lock(); !strings.Contains(b.live.String(), "good") {
		t.Errorf("shown live is %q", b.live.String())
	}
	b.mu.Unlock()
}

// TestACommandBeginsOnlyWhenItMay has what a task begins refused.
func TestACommandBeginsOnlyWhenItMay(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.waits = context.Canceled
	c := choir.Command{Shell: "echo x > file"}
	if _, _, err := b.Run(t.Context(), command.Order{Command: c, Shown: c, Dir: b.Root()}); err != context.Canceled {
		t.Errorf("it ran: %v", err)
	}
	if _, err := os.Stat(b.Root() + "/file"); err == nil {
		t.Error("it wrote a file")
	}
}

// TestAPersonEndsACommandInTheBackground starts a command of the model that goes on beside it,
// and ends it as a person does.
func TestAPersonEndsACommandInTheBackground(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	out, err := b.Shell(t.Context(), "echo begun; exec sleep 1000", 0, 1, tools.Stdin{})
	if err != nil || !strings.Contains(out.Text, "[running, handle 1: echo begun") {
		t.Fatalf("%+v: %v", out, err)
	}
	b.ends.End(choir.ToolCallID(task, 2))
	b.ends.End(choir.ToolCallID(task, b.call))
	out, err = b.AwaitCommand(t.Context(), 1, 100, false, tools.Stdin{})
	if err != nil || !strings.Contains(out.Text, "a person ended this command") {
		t.Errorf("%+v: %v", out, err)
	}
	if len(b.ran) != 1 || b.stored[b.ran[0].Stdout] != "begun\n" {
		t.Errorf("recorded is %+v, stored %q", b.ran, b.stored)
	}
	if _, err = b.AwaitCommand(t.Context(), 1, 1, true, tools.Stdin{}); choir.CodeOf(err) != choir.CodeInvalid {
		t.Errorf("its handle is still there: %v", err)
	}
}
