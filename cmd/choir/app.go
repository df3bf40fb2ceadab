package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"choiros/internal/choir"
	"choiros/internal/control/api"
)

// app is what every command shares: where it reads and writes, and the flags
// that stand on every command.
type app struct {
	in io.Reader
	console
	data     string
	config   string
	computer string
	json     bool
	env      func(string) string
	// record is where model exchanges are written down, recording how that ends.
	record    string
	recording func() error
}

func newApp() *app {
	return &app{in: os.Stdin, console: newConsole(os.Stdout, os.Stderr), env: os.Getenv}
}

const rootHelp = `Choir is the Automatic Computer: a computer that agents work in, that you own,
and that can be rewound.

Exit codes: 0 done, 1 failed, 2 usage, 3 needs input, 4 refused by policy,
5 unavailable here.`

// execute runs one command line and returns its exit code.
func execute(ctx context.Context, args []string, a *app) int {
	root := newRootCommand(a)
	root.SetArgs(args)
	verb, err := root.ExecuteContextC(ctx)
	// A flag that cannot be read keeps those after it from being read.
	a.json = a.json || slices.Contains(args, "--json")
	return a.report(verbError(verb, err))
}

// newRootCommand holds all verbs.
func newRootCommand(a *app) *cobra.Command {
	root := &cobra.Command{
		Use: "choir", Short: "The Automatic Computer", Long: rootHelp,
		SilenceUsage: true, SilenceErrors: true,
		Example: "  choir up\n  choir demo\n  choir repo add ~/src/hello\n  choir prompt --repo hello \"make the tests pass\"",
	}
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	// Known from the beginning, so that it does not swallow what follows it.
	root.InitDefaultHelpFlag()
	f := root.PersistentFlags()
	f.StringVar(&a.data, "data", "", "data folder (default "+a.defaultData()+")")
	f.StringVar(&a.config, "config", "", "configuration file (default the data folder's choir.toml, then /etc/choir/config.toml)")
	f.StringVar(&a.computer, "computer", "", "computer of the data folder, by its id or name (default the first)")
	f.BoolVar(&a.json, "json", false, "print JSON")
	root.PersistentPreRunE = func(*cobra.Command, []string) (err error) {
		if a.data == "" {
			a.data = a.defaultData()
		}
		a.data, err = filepath.Abs(a.data)
		return err
	}
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(newUpCommand(a), newDoctorCommand(a), newRepoCommand(a), newPromptCommand(a), newTaskCommand(a),
		newRunCommand(a), newLogCommand(a), newTimelineCommand(a), newCheckpointCommand(a), newRewindCommand(a), newTrashCommand(a), newUndoCommand(a),
		withOther(a, newDiffCommand(a)), newComputersCommand(a), newForkCommand(a), newTakeCommand(a), newExportCommand(a), newImportCommand(a), newDemoCommand(a), newBenchCommand(a), newMetricsCommand(a), newVersionCommand(a))
	checkArguments(root)
	return root
}

// exitError ends a command with a code of its own; what there was to say has
// been said.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// report prints an error and returns the exit code.
func (a *app) report(err error) int {
	var exit exitError
	var e *choir.Error
	var p *api.Problem
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return int(exit)
	case errors.As(err, &p):
		e = &choir.Error{Code: p.Code, Path: p.Field, Msg: p.Detail, Remedy: p.Remedy}
	case errors.As(err, &e):
	case strings.HasPrefix(err.Error(), "invalid argument"):
		e = choir.E("", choir.CodeInvalid, "%v", err).WithRemedy("choir --help")
	default:
		e = choir.E("", choir.CodeInternal, "%v", err)
	}
	if a.json {
		a.printJSON(api.ProblemOf(e))
	}
	text := *e
	text.Op, text.Remedy = "", ""
	a.errorf("choir: %s\n", lines(text.Error()))
	if e.Remedy != "" {
		a.errorf("  %s\n", lines(e.Remedy))
	}
	return e.Code.ExitCode()
}

// defaultData is where the computer lives when nothing else is said.
func (a *app) defaultData() string {
	if os.Geteuid() == 0 {
		// A root user's home cannot be entered by the sandboxes' own users.
		return "/var/lib/choir"
	}
	if dir := a.env("XDG_DATA_HOME"); dir != "" {
		return filepath.Join(dir, "choir")
	}
	return filepath.Join(a.env("HOME"), ".local", "share", "choir")
}
