package main

import (
	"cmp"
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
	"choiros/internal/model/replay"
	"choiros/internal/names"
)

// app holds the streams and the common flags of all commands.
type app struct {
	in io.Reader
	console
	data     string
	config   string
	computer string
	json     bool
	env      func(string) string
	// record is the file for recorded model exchanges; recording closes it, nil before the first.
	record    string
	recording func() error
	// playing answers all model calls in place of the configured models; nil for none.
	playing *replay.Recording
	// modelsData is the data folder whose keys of model services are read, if it is not data.
	modelsData string
}

// language returns the person's language, from the environment's locale.
func (a *app) language() names.Language {
	return names.LanguageOf(cmp.Or(a.env("LC_ALL"), a.env("LC_MESSAGES"), a.env("LANG")))
}

// newApp returns an app with the process's streams and environment.
func newApp() *app {
	return &app{in: os.Stdin, console: newConsole(os.Stdout, os.Stderr), env: os.Getenv}
}

const rootHelp = `Choir is the Automatic Computer: a computer that agents work in, that you own,
and that can be rewound.

Exit codes: 0 done, 1 failed, 2 usage, 3 needs input, 4 refused by policy,
5 unavailable here.`

// execute runs one command line, reports its error and returns its exit code.
func execute(ctx context.Context, args []string, a *app) int {
	root := newRootCommand(a)
	root.SetArgs(args)
	verb, err := root.ExecuteContextC(ctx)
	// A flag that cannot be read keeps those after it from being read.
	a.json = a.json || slices.Contains(args, "--json")
	return a.report(verbError(verb, err))
}

// newRootCommand returns the command choir with all verbs.
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
		newRunCommand(a), newLogCommand(a), newTimelineCommand(a), newCheckpointCommand(a), newRewindCommand(a), newTrashCommand(a), newUndoCommand(a), newEgressCommand(a), newApprovalsCommand(a), newApproveCommand(a), newRefuseCommand(a), newVaultCommand(a),
		withOther(a, newDiffCommand(a)), newComputersCommand(a), newForkCommand(a), newTakeCommand(a), newExportCommand(a), newImportCommand(a), newImageCommand(a), newDemoCommand(a), newEvalCommand(a), newBenchCommand(a), newMetricsCommand(a), newModelCommand(a), newVersionCommand(a))
	checkArguments(root)
	return root
}

// exitError ends a command with this exit code, without a further message.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// report prints an error with its remedy, in the person's language, and returns its exit code, 0 for nil.
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
		e = &choir.Error{Code: p.Code, Path: p.Field, Msg: p.Detail, Remedy: p.Remedy, Reason: p.Reason, Values: p.Values}
	case errors.As(err, &e):
	case strings.HasPrefix(err.Error(), "invalid argument"):
		e = choir.Refuse("", choir.ReasonArgumentInvalid, choir.TextOf("why", err))
	default:
		e = choir.E("", choir.CodeInternal, "%v", err)
	}
	if a.json {
		a.printJSON(api.ProblemOf(e))
	}
	text := *e
	text.Op, text.Remedy = "", ""
	reason, values := choir.ReasonOf(e)
	if reason != "" && !choir.NamesField(values) {
		text.Path = "" // the sentence of this reason is whole, and a field's name before it is none
	}
	said, help := choir.SayProblem(string(a.language()), choir.Problem{Code: e.Code, Message: text.Error(), Remedy: e.Remedy, Reason: reason, Values: values})
	a.errorf("choir: %s\n", lines(said))
	if help != "" {
		a.errorf("  %s\n", lines(help))
	}
	return e.Code.ExitCode()
}

// defaultData returns the default data folder.
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
