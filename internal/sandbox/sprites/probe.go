package sprites

import (
	"context"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
)

// Probe implements sandbox.Driver. It makes no sprite, because that costs money: the level has
// a kernel once this driver has seen one.
func (d *Driver) Probe(ctx context.Context) sandbox.Report {
	r := sandbox.Report{Driver: Name, Usable: true, Level: levelOf("", 0)}
	if s := d.seen.Load(); s != nil {
		r.Level = levelOf(s.Kernel, s.Landlock)
	}
	ctx, cancel := context.WithTimeout(ctx, d.cfg.CallTimeout)
	defer cancel()
	token := checkOf("token", "there is a token for Fly Sprites", func() error {
		_, err := d.api.token(ctx)
		return err
	})
	r.Checks = append(r.Checks, token)
	if token.OK {
		r.Checks = append(r.Checks, checkOf("service", serviceOf(d.cfg.URL)+" takes the token", func() error {
			_, err := d.api.list(ctx, d.label)
			return err
		}))
	}
	r.Checks = append(r.Checks, sandbox.Check{Name: "limits", Detail: r.Level.Limits})
	for _, c := range r.Checks {
		r.Usable = r.Usable && (c.OK || !c.Required)
	}
	return r
}

// checkOf returns a required check that is met if do returns no error; else with the
// error's remedy.
func checkOf(name, detail string, do func() error) sandbox.Check {
	c := sandbox.Check{Name: name, Required: true, Detail: detail}
	err := do()
	if err == nil {
		c.OK = true
		return c
	}
	said, help := choir.TellProblem(*choir.ProblemOf(err))
	return c.AddDetail(said).AddRemedy(help)
}
