package main

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"choiros/internal/choir"
	"choiros/internal/control/api"
	"choiros/internal/control/supervisor"
)

func newDoctorCommand(a *app) *cobra.Command {
	var report string
	c := &cobra.Command{
		Use: "doctor", Short: "Say what this machine can isolate, what is missing, and what is in force", Args: cobra.NoArgs,
		Long: `Say what this machine can isolate, what is missing, and what is in force.

With --report, pack what a maintainer needs into a new file, a gzipped tar: versions,
findings, settings, facts of the kernel, counts and sizes, the end of choir's log, and what
the running choir does. It has no keys, no tokens, no prompts, no names and nothing of your
files; what is in it and what is left out is printed.

Exit codes: 0 done, 1 failed, 5 this machine cannot isolate a sandbox.`,
		Example: "  choir doctor\n  choir doctor --report choir-report.tar.gz",
		RunE: func(c *cobra.Command, _ []string) error {
			if report != "" {
				return runReport(c.Context(), a, report)
			}
			return runDoctor(c.Context(), a)
		},
	}
	c.Flags().StringVar(&report, "report", "", "pack what a maintainer needs, without secrets, into this new file")
	return c
}

func runDoctor(ctx context.Context, a *app) error {
	d, _, err := a.diagnoseMachine(ctx)
	if err != nil {
		return err
	}
	if err := a.suggestToolchains(ctx, d.Checks); err != nil {
		return err
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

func (a *app) showDoctor(d api.Doctor) {
	a.printf("choir %s, data in %s\n\nIsolation: %s\n", d.Version, d.Data, d.Isolation.Level.Name)
	if d.Isolation.Level.Limits != "" {
		a.printf("Limits:    %s\n", d.Isolation.Level.Limits)
	}
	if d.Isolation.Level.Tasks != "" {
		a.printf("Tasks:     a task in a project can write only there, by %s\n", d.Isolation.Level.Tasks)
	}
	for _, m := range d.Isolation.Level.Missing {
		a.printf("Missing:   %s\n", m)
	}
	a.printf("\n")
	for _, c := range append(d.Isolation.Checks, d.Checks...) {
		mark := "ok "
		if !c.OK {
			mark = "-- "
			if c.Required {
				mark = "NO "
			}
		}
		a.printf("%s %-22s %s\n", mark, c.Name, c.Detail)
		if !c.OK && c.Remedy != "" {
			a.printf("    %-22s try: %s\n", "", c.Remedy)
		}
	}
	a.printf("\nSettings\n")
	for _, s := range d.Settings {
		a.printf("  %-28s %-20s (%s)\n", s.Key, s.Value, s.From)
	}
}
