package main

import (
	"context"
	"path/filepath"

	"github.com/spf13/cobra"

	"choiros/internal/choir"
	"choiros/internal/control/api"
	"choiros/internal/control/supervisor"
	"choiros/internal/sandbox/local"
)

func newDoctorCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Say what this machine can isolate, what is missing, and what is in force", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runDoctor(c.Context(), a) },
	}
}

func runDoctor(ctx context.Context, a *app) error {
	var d api.Doctor
	if c, err := a.dial(ctx); err == nil {
		if err := c.get(ctx, "/api/doctor", &d); err != nil {
			return err
		}
	} else {
		cfg, err := a.systemConfig()
		if err != nil {
			return err
		}
		driver := local.New(local.Config{StateDir: filepath.Join(a.data, "sandbox")})
		defer driver.Close()
		d = supervisor.NewDoctor(cfg, driver.Probe(ctx))
	}
	if a.json {
		a.printJSON(d)
	} else {
		a.showDoctor(d)
	}
	if !d.Isolation.Usable {
		return choir.E("", choir.CodeUnavailable, "this machine cannot isolate a sandbox")
	}
	return nil
}

func (a *app) showDoctor(d api.Doctor) {
	a.printf("choir %s, data in %s\n\nIsolation: %s\n", d.Version, d.Data, d.Isolation.Level.Name)
	if d.Isolation.Level.Limits != "" {
		a.printf("Limits:    %s\n", d.Isolation.Level.Limits)
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
