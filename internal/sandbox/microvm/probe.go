package microvm

import (
	"context"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
)

// Probe implements sandbox.Driver.
func (d *Driver) Probe(ctx context.Context) sandbox.Report {
	r := sandbox.Report{Driver: Name, Usable: true, Level: sandbox.Level{Driver: Name, Name: Name}}
	image := checkOf("image", d.checkImage)
	mkfs := checkOf("mke2fs", findMkfs)
	vmm := newMonitor(d.cfg)
	r.Checks = append(vmm.checks(ctx), mkfs, image)
	for _, c := range r.Checks {
		r.Usable = r.Usable && (c.OK || !c.Required)
	}
	if !r.Usable {
		return r
	}
	m, err := d.Prepare()
	if err != nil {
		r.Usable = false
		r.Checks = append(r.Checks, checkOf("machine", func() (string, error) { return "", err }))
		return r
	}
	r.Level = m.facts.level()
	r.Checks = append(r.Checks, vmm.acceleration(m.facts),
		sandbox.Check{Name: "limits", OK: true, Detail: r.Level.Limits}, probeUser(vmm.title(), m.facts.Root))
	return r
}

// checkOf returns a required check that is met if do returns no error; else with the
// error's remedy.
func checkOf(name string, do func() (string, error)) sandbox.Check {
	detail, err := do()
	c := sandbox.Check{Name: name, Required: true, OK: err == nil, Detail: detail}
	if err != nil {
		said, help := choir.TellProblem(*choir.ProblemOf(err))
		c = c.AddDetail(said).AddRemedy(help)
	}
	return c
}

func (d *Driver) checkImage() (string, error) {
	m, err := loadImage(d.cfg)
	return d.cfg.Rootfs + ", Linux " + m.Kernel.Release, err
}

func probeUser(title string, root bool) sandbox.Check {
	if root {
		return sandbox.Check{Name: "host user", OK: true, Detail: "every computer's " + title + " has a host user of its own"}
	}
	return sandbox.Check{Name: "host user", Detail: title + " runs as the user of the control plane"}.AddRemedy(sandbox.RunAsRoot)
}
