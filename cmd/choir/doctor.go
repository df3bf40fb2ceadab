package main

import (
	"context"
	"os"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"choiros/internal/choir"
	"choiros/internal/control/api"
	"choiros/internal/control/supervisor"
)

func newDoctorCommand(a *app) *cobra.Command {
	var report string
	c := &cobra.Command{
		Use: "doctor", Args: cobra.NoArgs,
		Example: "  choir doctor\n  choir doctor --report choir-report.tar.gz",
		RunE: func(c *cobra.Command, _ []string) error {
			if report != "" {
				return runReport(c.Context(), a, report)
			}
			return runDoctor(c.Context(), a)
		},
	}
	c.Flags().StringVar(&report, "report", "", "")
	return c
}

func runDoctor(ctx context.Context, a *app) error {
	d, running, err := a.diagnoseMachine(ctx)
	if err != nil {
		return err
	}
	if err := a.suggestToolchains(ctx, d.Checks); err != nil {
		if !running {
			return err
		}
		d.Checks = append(d.Checks, supervisor.CheckBrokenFile(err))
	}
	if a.json {
		a.printJSON(d)
	} else {
		a.showDoctor(d)
	}
	if !d.Isolation.Usable {
		return choir.Refuse("", choir.ReasonMachineCannotIsolate)
	}
	return nil
}

// diagnoseMachine returns the doctor's findings, of the running choir or, if none runs, of a probe by
// this process.
func (a *app) diagnoseMachine(ctx context.Context) (d api.Doctor, running bool, err error) {
	if c, err := a.dial(ctx); err == nil {
		err = c.get(ctx, "/api/doctor", &d)
		return d, true, err
	}
	cfg, err := a.systemConfig()
	if err != nil {
		return d, false, err
	}
	d, err = examine(ctx, cfg)
	return d, false, err
}

// examine probes this machine with a temporary driver and returns the doctor's findings.
func examine(ctx context.Context, cfg supervisor.Config) (api.Doctor, error) {
	dir, err := os.MkdirTemp("", "choir-doctor-")
	if err != nil {
		return api.Doctor{}, choir.Wrap("choir.doctor", choir.CodeUnavailable, err, "make a folder for a sandbox")
	}
	defer os.RemoveAll(dir) // best effort: it is in the folder for such things
	driver, err := newDrivers(cfg.File, dir, "")
	if err != nil {
		return api.Doctor{}, err
	}
	defer driver.Close()
	cfg.Driver = driver
	return supervisor.NewDoctor(ctx, cfg), nil
}

func (a *printer) showDoctor(d api.Doctor) {
	line := func(name, text string) { a.printf("%s %s\n", a.label("doctor", name), text) }
	a.say("doctor.head", "version", d.Version, "data", d.Data)
	a.printf("\n")
	line("isolation", d.Isolation.Level.Name)
	if d.Isolation.Level.Limits != "" {
		line("limits", d.Isolation.Level.Limits)
	}
	if d.Isolation.Level.Tasks != "" {
		line("tasks", a.sentence("doctor.tasks", "how", d.Isolation.Level.Tasks))
	}
	for _, m := range d.Isolation.Level.Missing {
		var said *choir.Said
		if s, ok := d.Isolation.Level.MissingSaid[m]; ok {
			said = &s
		}
		line("missing", a.sayTold(m, said))
	}
	a.printf("\n")
	for _, c := range append(d.Isolation.Checks, d.Checks...) {
		mark := a.label("ok", "ok")
		if !c.OK {
			mark = a.label("ok", "lacks")
			if c.Required {
				mark = a.label("ok", "fails")
			}
		}
		a.printf("%s  %-22s %s\n", mark, c.Name, a.sayTold(c.Detail, c.DetailSaid))
		if !c.OK && c.Remedy != "" {
			a.printf("%*s  %-22s %s\n", utf8.RuneCountInString(mark), "", "", a.sentence("doctor.try", "remedy", a.sayTold(c.Remedy, c.RemedySaid)))
		}
	}
	a.printf("\n%s\n", a.sentence("doctor.settings"))
	for _, s := range d.Settings {
		a.printf("  %-28s %-20s (%s)\n", s.Key, s.Value, a.term("setting", s.From))
	}
}
