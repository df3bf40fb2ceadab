package container

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/host"
)

// nobodyUID is the user of probes when the control plane is root.
const nobodyUID = 65534

// trialTimeout is the limit on a program that is run to see whether one can be.
const trialTimeout = 60 * time.Second

// Probe implements sandbox.Driver. An engine that had none keeps the image of sandboxes.
func (d *Driver) Probe(ctx context.Context) sandbox.Report {
	r := sandbox.Report{Driver: Name, Usable: true}
	found := sandbox.Check{Name: "engine", Required: true}
	m, err := d.BeginCall()
	if err != nil {
		found.Detail, found.Remedy = err.Error(), remedyEngine
		r.Checks, r.Usable, r.Level = []sandbox.Check{found}, false, levelOf("no engine", false, host.LandlockVersion(), false)
		return r
	}
	defer d.EndCall()
	found.OK, found.Detail = true, m.engine.title+" at "+m.engine.socket
	r.Level = levelOf(m.engine.title, m.engine.limits, host.LandlockVersion(), false)
	r.Checks = []sandbox.Check{found, m.probeContainer(ctx), m.probeLimits(), probeHostUser()}
	for _, c := range r.Checks {
		r.Usable = r.Usable && (c.OK || !c.Required)
	}
	return r
}

// probeContainer runs a program in a container like a sandbox.
func (m *machine) probeContainer(ctx context.Context) sandbox.Check {
	c := sandbox.Check{Name: "container", Required: true}
	if out, err := m.runOnce(ctx, "/usr/bin/true"); err != nil {
		c.Detail = fmt.Sprintf("the engine starts no sandbox: %v: %s", err, out)
		return c.AddRemedy(sandbox.AllowNamespaces)
	}
	c.OK, c.Detail = true, "a program was run in a container with namespaces of its own"
	return c
}

func (m *machine) probeLimits() sandbox.Check {
	c := sandbox.Check{Name: "limits", OK: m.engine.limits, Detail: levelOf(m.engine.title, m.engine.limits, 0, true).Limits}
	if !c.OK {
		c.Remedy = remedyLimits
	}
	return c
}

func probeHostUser() sandbox.Check {
	if os.Geteuid() == 0 {
		return sandbox.Check{Name: "host user", OK: true}.AddDetail(sandbox.OwnUser)
	}
	return sandbox.Check{Name: "host user"}.AddDetail(sandbox.ChoirUser).AddRemedy(sandbox.RunAsRoot)
}

// runOnce runs one program in a container like a sandbox with an empty workspace, and
// returns its output. A program that ends with another code than 0 is an error.
func (m *machine) runOnce(ctx context.Context, argv ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, trialTimeout)
	defer cancel()
	spec := sandbox.Spec{
		Computer: "trial", Role: choir.RoleAssociate, UID: nobodyUID,
		Mounts: []sandbox.Mount{sandbox.Workspace("", sandbox.TransportCopy)},
	}
	name := host.NewName(spec)
	defer func() { // by its name: it may be there, and its id be lost with the engine's answer
		ctx, cancel := host.ContextOfRemoval(ctx)
		defer cancel()
		m.engine.remove(ctx, name) // the next start sweeps what stays
	}()
	id, err := m.create(ctx, program{name: name, argv: argv, spec: spec})
	if err != nil {
		return "", err
	}
	if _, err := m.engine.api.ContainerStart(ctx, id, client.ContainerStartOptions{}); err != nil {
		return "", err
	}
	ended := m.engine.api.ContainerWait(ctx, id, client.ContainerWaitOptions{Condition: container.WaitConditionNotRunning})
	select {
	case err := <-ended.Error:
		return "", err
	case said := <-ended.Result:
		out := m.engine.output(ctx, id)
		if said.StatusCode != 0 {
			return out, fmt.Errorf("it ended with code %d", said.StatusCode)
		}
		return out, nil
	}
}
