package supervisor

import (
	"cmp"
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"time"

	"choiros/internal/choir"
	"choiros/internal/computer"
	"choiros/internal/config"
	"choiros/internal/control/api"
	"choiros/internal/control/connections"
	"choiros/internal/control/egress"
	"choiros/internal/control/hibernation"
	"choiros/internal/control/modelgw"
	"choiros/internal/eventstore"
	"choiros/internal/sandbox"
)

// Health returns the state of all parts. It reads only memory, so it returns at once.
func (s *System) Health(context.Context) api.Health {
	h := api.Health{
		Status: "ok", Version: s.cfg.Version, UptimeS: int64(s.cfg.Now().Sub(s.started).Seconds()),
		Isolation: s.report.Level.Name, Bus: "ok", Log: "ok", Failing: map[string]string{},
	}
	if err := s.bus.Healthy(); err != nil {
		h.Bus = "failing"
		h.Failing["bus"] = err.Error()
	}
	all := s.computers.list()
	for _, c := range all {
		of := ""
		if len(all) > 1 {
			of = " of " + c.Name()
		}
		if why := c.Store().ReadOnly(); why != "" {
			h.Log = "read-only"
			h.Failing["log"+of] = why
		}
		if err := notReplicated(c); err != nil {
			h.Failing["replication"+of] = err.Error()
		}
		for _, role := range []choir.Role{choir.RoleDirector, choir.RoleAssociate} {
			level, running := c.Roles().Level(role)
			switch {
			case !running:
				h.Failing["sandbox "+string(role)+of] = "it does not run"
				if why := c.Roles().Failure(role); why != nil {
					h.Failing["sandbox "+string(role)+of] += ": " + why.Error()
				}
			case !c.Roles().Serving(role):
				h.Failing["sandbox "+string(role)+of] = "its role is being started again"
				fallthrough
			default:
				h.Isolation = level.Name
			}
		}
	}
	for _, f := range s.Failed() {
		h.Failing["computer "+f.Name] = f.Why.Error()
	}
	if len(h.Failing) > 0 {
		h.Status = "failing"
	}
	return h
}

// Doctor probes this machine and returns its checks, and those of the open computers.
func (s *System) Doctor(ctx context.Context) api.Doctor {
	cfg := s.cfg
	cfg.File = cfg.File.WithReloaded(s.policy.config())
	d := NewDoctor(ctx, cfg)
	wanted := cfg.File.Computers
	if s.cfg.Ready == nil || cfg.File.Runtime.Mode == "sprites" {
		wanted.Ready = 0
	}
	d.Checks = append(d.Checks, hibernationCheck(s.computers.pool.Counts(), wanted))
	d.Checks = append(d.Checks, s.packages.checks()...)
	for _, c := range s.computers.list() {
		p := c.Store().Checked()
		d.Checks = append(d.Checks, sandbox.Check{Name: "log of " + c.Name(), OK: p.Err == nil && p.Holes == 0}.AddDetail(p.Describe()))
		d.Checks = append(d.Checks, grantChecks(ctx, c)...)
		d.Checks = append(d.Checks, keyChecks(s.policy.get(), c.Name(), s.vault.HeaderHosts(c.ID()))...)
	}
	for _, f := range s.Failed() {
		_, help := choir.TellError(f.Why)
		d.Checks = append(d.Checks, sandbox.Check{Name: "computer " + f.Name, Detail: f.Why.Error()}.AddRemedy(help))
	}
	d.Checks = append(d.Checks, hostUserChecks(s.cfg.Random, s.entries())...)
	d.Checks = append(d.Checks, s.disks.checks(s.entries(), s.folder)...)
	d.Checks = append(d.Checks, replicationChecks(s.computers.list())...)
	return d
}

// hibernationCheck returns the check that tells how many computers are open, stand still and
// hibernate, and when an idle one does so.
func hibernationCheck(n hibernation.Counts, wanted config.Computers) sandbox.Check {
	check := sandbox.Check{Name: "computers", OK: n.Failed == 0}
	counts := []choir.Value{choir.CountOf("open", n.Open), choir.CountOf("frozen", n.Frozen), choir.CountOf("asleep", n.Hibernated), choir.CountOf("failed", n.Failed)}
	if wanted.Idle() == 0 {
		return check.AddDetail(withFreezing(wanted, choir.TellSentence("told.computersAwake",
			"{open} open, {frozen} of them standing still, {asleep} hibernated, {failed} failed to open; none hibernates while choir runs (computers.hibernate_after)", counts...)))
	}
	told := choir.TellSentence("told.computers", "{open} open, {frozen} of them standing still, {asleep} hibernated, {failed} failed to open; an idle one hibernates after {after}",
		append(counts, choir.LinesOf("after", wanted.HibernateAfter))...)
	if wanted.Ready > 0 {
		told = choir.TellAround("told.computersReady", "{said}; sandboxes for the next start of those used last wait ready, for at most {ready} of them",
			map[string]choir.Told{"said": told}, choir.CountOf("ready", wanted.Ready))
	}
	return check.AddDetail(withFreezing(wanted, told))
}

// withFreezing returns what is told of idle computers with when their programs stand still.
func withFreezing(wanted config.Computers, told choir.Told) choir.Told {
	if wanted.Freezing() == 0 {
		return told
	}
	return choir.TellAround("told.computersFreeze", "{said}; the programs of an idle one stand still after {freeze}, until the next request",
		map[string]choir.Told{"said": told}, choir.LinesOf("freeze", wanted.FreezeAfter))
}

// NewDoctor probes a machine and returns its checks and the settings that would be in
// force. No control plane needs to run.
func NewDoctor(ctx context.Context, cfg Config) api.Doctor {
	report := cfg.Driver.Probe(ctx)
	d := api.Doctor{Version: cfg.Version, Data: cfg.Data, Isolation: report, Models: cfg.Connections.Models(), Settings: cfg.Connections.Override(cfg.File.List(cfg.From))}
	d.Checks = append(d.Checks, modelCheck(d.Models, cfg.Connections.TellModels(d.Models), cfg))
	d.Checks = append(d.Checks, cfg.Connections.Check(ctx)...)
	for _, name := range cfg.Connections.Priceless() {
		why, help := choir.TellError(modelgw.NoPrice(name))
		d.Checks = append(d.Checks, sandbox.Check{Name: "price of " + name}.AddRemedy(help).
			AddDetail(choir.TellAround("told.priceless", "{why}; its calls are refused", map[string]choir.Told{"why": why})))
	}
	disk := diskCheck(cfg.Data, cfg.File.Storage)
	if disk.OK {
		d.Isolation.Level.DropMissing(sandbox.NoDiskLimit)
	}
	d.Checks = append(d.Checks, disk)
	d.Checks = append(d.Checks, clusterCheck(ctx, cfg)...)
	d.Checks = append(d.Checks, egressCheck(cfg))
	if len(cfg.File.Approve) > 0 {
		d.Checks = append(d.Checks, approvalCheck(report.Level))
	}
	d.Checks = append(d.Checks, sandbox.Check{Name: "browser", OK: true}.AddDetail(choir.TellSentence("told.browser",
		"pages that agents write run in your browser, which is outside of every sandbox: Chromium from version 156 on holds them to their computer, Firefox and Safari do not hold WebRTC back (the top bar says it under Sandboxed)")))
	if box, ok := cfg.Driver.(sandbox.Toolbox); ok && report.Usable {
		d.Checks = append(d.Checks, box.Tools(ctx)...)
	}
	return d
}

// CheckBrokenFile returns the check of a configuration file with an error, beside a choir that runs with
// what it read before.
func CheckBrokenFile(err error) sandbox.Check {
	problem := *choir.ProblemOf(err)
	said, help := choir.TellProblem(problem)
	at := problem.Path
	if at != "" {
		at += " "
	}
	return sandbox.Check{Name: "configuration"}.AddRemedy(help).AddDetail(choir.TellAround("told.fileBroken",
		"choir goes on with what it read before, and does not start again with this: {at}{error}", map[string]choir.Told{"error": said}, choir.LinesOf("at", at)))
}

// egressCheck returns the check that tells which hosts outside programs in the sandboxes
// may reach.
func egressCheck(cfg Config) sandbox.Check {
	detail := choir.TellSentence("told.egressNone", "programs in the sandboxes reach no host outside (egress.mode none)")
	switch choir.EgressMode(cfg.File.Egress.Mode) {
	case choir.EgressGitPkg:
		detail = choir.TellSentence("told.egressPackages", "programs in the Associate's sandbox reach known git hosts and package registries, and what [[egress.allowlist]] adds (egress.mode git+pkg): whoever has an account at one of them can be sent data")
	case choir.EgressAllowlist:
		detail = choir.TellSentence("told.egressList", "programs in the Associate's sandbox reach the hosts of [[egress.allowlist]] (egress.mode allowlist)")
	}
	if hosts := inspected(cfg); len(hosts) > 0 {
		detail = choir.TellAround("told.egressInspected", "{said}; choir looks into TLS, with an authority that only the sandbox trusts, for {hosts}",
			map[string]choir.Told{"said": detail}, choir.LinesOf("hosts", strings.Join(hosts, ", ")))
	}
	return sandbox.Check{Name: "egress", OK: true}.AddDetail(detail)
}

// inspected returns the hosts and ports for which TLS ends at the proxy: those of rules, and those
// of registries where there is a package cache.
func inspected(cfg Config) (hosts []string) {
	policy, err := cfg.File.Egress.Policy()
	if err != nil || policy.Mode == choir.EgressNone {
		return nil
	}
	for _, r := range policy.Inspected() {
		hosts = append(hosts, r.String())
	}
	if cfg.File.Egress.PackageCacheMB > 0 {
		for _, host := range registryHosts(cfg.Registries) {
			if at := host + ":443"; !slices.Contains(hosts, at) {
				hosts = append(hosts, at)
			}
		}
	}
	return hosts
}

// approvalCheck returns the check that tells where tasks work whose results the owner may
// have to approve.
func approvalCheck(level sandbox.Level) sandbox.Check {
	if level.Tasks == "" {
		return sandbox.Check{Name: "approvals"}.AddDetail(choir.TellSentence("told.approveLate", "nothing confines a task to a copy here: it works in the workspace, where your programs see what it writes, and is taken back at its end if a rule of [[approve]] is about it"))
	}
	return sandbox.Check{Name: "approvals", OK: true}.AddDetail(choir.TellSentence("told.approveFirst", "a task that a rule of [[approve]] could be about works in a copy, and nothing of it is in the workspace before you approve it"))
}

// keyChecks returns the check that tells for which hosts TLS ends at the proxy because keys of the
// vault are added to a computer's requests; none where no such request gets out.
func keyChecks(policy egress.Policy, computer string, hosts []egress.Target) []sandbox.Check {
	var names []string
	for _, t := range hosts {
		if t.Port == 443 {
			names = append(names, t.HostPort())
		}
	}
	if len(names) == 0 || policy.Mode == choir.EgressNone {
		return nil
	}
	return []sandbox.Check{sandbox.Check{Name: "keys of " + computer, OK: true}.AddDetail(choir.TellSentence("told.keysAdded",
		"choir looks into TLS, with an authority that only the sandbox trusts, and adds a key of the vault for {hosts}", choir.LinesOf("hosts", strings.Join(names, ", "))))}
}

// grantChecks return a check for each grant that is in force in a computer.
func grantChecks(ctx context.Context, c *computer.Computer) (checks []sandbox.Check) {
	state, err := c.Grants().List(ctx)
	if err != nil {
		return []sandbox.Check{{Name: "grants of " + c.Name(), Detail: err.Error()}}
	}
	for _, g := range state.Grants {
		checks = append(checks, sandbox.Check{Name: "grant in " + c.Name(), OK: true}.AddDetail(describeGrant(g)))
	}
	return checks
}

// describeGrant returns a sentence about a grant.
func describeGrant(g eventstore.EgressGrant) choir.Told {
	host := choir.LinesOf("host", egress.Target{Host: g.Host, Port: g.Port}.HostPort())
	id := choir.LinesOf("id", cmp.Or(g.Task, g.Run))
	var said choir.Told
	switch g.Scope {
	case choir.EgressForTask:
		said = choir.TellSentence("told.grantTask", "{host} is let out for task {id}", host, id)
	case choir.EgressForRun:
		said = choir.TellSentence("told.grantRun", "{host} is let out for run {id}", host, id)
	default:
		said = choir.TellSentence("told.grantAlways", "{host} is let out for every task", host)
	}
	if g.Expires == 0 {
		return said
	}
	return choir.TellAround("told.grantUntil", "{said}, until {at}", map[string]choir.Told{"said": said}, choir.LinesOf("at", g.Expires.Std().UTC().Format(time.RFC3339)))
}

// modelCheck returns the check of the models in force, and whether the page or
// choir.toml names them.
func modelCheck(m api.ModelState, said choir.Told, cfg Config) sandbox.Check {
	check := sandbox.Check{Name: "model", OK: m.Connected}
	inside := map[string]choir.Told{"said": said, "place": connections.ModelsPlace}
	switch {
	case m.OnPage && (cfg.File.Models.Director != "" || cfg.File.Models.Associate != ""):
		said = choir.TellAround("told.modelsFirst", "{said} What is connected under {place} comes before [models] of {file}.", inside, choir.LinesOf("file", cfg.From))
	case m.OnPage:
		said = choir.TellAround("told.models", "{said} Connected under {place}.", inside)
	}
	return check.AddDetail(said)
}

// joined joins errors like errors.Join, without errors that only report a cancelled
// context or a closed connection.
func joined(errs []error) error {
	var real []error
	for _, err := range errs {
		if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, net.ErrClosed) {
			real = append(real, err)
		}
	}
	return errors.Join(real...)
}
