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
	printer
	data     string
	config   string
	computer string
	// record is the file for recorded model exchanges; recording closes it, nil before the first.
	record    string
	recording func() error
	// playing answers all model calls in place of the configured models; nil for none.
	playing *replay.Recording
	// modelsData is the data folder whose keys of model services are read, if it is not data.
	modelsData string
}

// language returns the person's language, from the environment's locale.
func (a *speaker) language() names.Language {
	return names.LanguageOf(cmp.Or(a.env("LC_ALL"), a.env("LC_MESSAGES"), a.env("LANG")))
}

// newApp returns an app with the process's streams and environment.
func newApp() *app {
	return &app{in: os.Stdin, printer: newPrinter(newConsole(os.Stdout, os.Stderr), os.Getenv)}
}

// execute runs one command line, reports its error and returns its exit code.
func execute(ctx context.Context, args []string, a *app) int {
	// A flag that cannot be read keeps those after it from being read.
	a.forProgram = slices.Contains(args, "--json")
	root := newProgram(a)
	root.SetArgs(args)
	verb, err := root.ExecuteContextC(ctx)
	a.json = a.json || a.forProgram
	return a.report(verbError(verb, err))
}

// newProgram returns the command choir with all verbs, also the command library's own.
func newProgram(a *app) *cobra.Command {
	root := newRootCommand(a)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	a.describe(root)
	return root
}

// newRootCommand returns the command choir with all verbs of its own.
func newRootCommand(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:          "choir",
		SilenceUsage: true, SilenceErrors: true,
		Example: "  choir up\n  choir demo\n  choir repo add ~/src/hello\n  choir prompt --repo hello \"{mend}\"",
	}
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	// Known from the beginning, so that it does not swallow what follows it.
	root.InitDefaultHelpFlag()
	f := root.PersistentFlags()
	f.StringVar(&a.data, "data", "", "")
	f.StringVar(&a.config, "config", "", "")
	f.StringVar(&a.computer, "computer", "", "")
	f.BoolVar(&a.json, "json", false, "")
	root.PersistentPreRunE = func(*cobra.Command, []string) (err error) {
		if a.data == "" {
			a.data = a.defaultData()
		}
		a.data, err = filepath.Abs(a.data)
		return err
	}
	root.SetFlagErrorFunc(flagError)
	root.SetUsageFunc(a.showUsage)
	root.AddCommand(newUpCommand(a), newDoctorCommand(a), newRepoCommand(a), newPromptCommand(a), newTaskCommand(a),
		newRunCommand(a), newLogCommand(a), newTimelineCommand(a), newCheckpointCommand(a), newRewindCommand(a), newTrashCommand(a), newUndoCommand(a), newEgressCommand(a), newApprovalsCommand(a), newApproveCommand(a), newRefuseCommand(a), newVaultCommand(a),
		withOther(a, newDiffCommand(a)), newComputersCommand(a), newForkCommand(a), newTakeCommand(a), newExportCommand(a), newImportCommand(a), newImageCommand(a), newDemoCommand(a), newEvalCommand(a), newBenchCommand(a), newMetricsCommand(a), newModelCommand(a), newVersionCommand(a))
	checkArguments(root)
	a.describe(root)
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
