package main

import (
	"cmp"
	"context"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"choiros/internal/choir"
	"choiros/internal/control/api"
	"choiros/internal/timeline"
)

func newEgressCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "egress", Short: "List the hosts that tasks ask for, and the grants", Args: cobra.NoArgs,
		Long: "List the hosts outside that tasks were refused and ask for, and what you granted.\n" +
			"A grant is for one host and one port, for a task, for a run or always. It opens no address of\n" +
			"this machine or its network. Exit codes: 0 done, 1 failed, 2 usage, 4 refused by policy.",
		Example: "  choir egress\n  choir egress grant example.com --for run\n  choir egress grant example.com:8443 --for always --expires 1h\n" +
			"  choir egress deny example.com\n  choir egress revoke example.com\n  choir egress mode allowlist\n  choir egress reload",
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withComputer(c.Context(), func(ctx context.Context, cl *client) error { return runEgress(ctx, a, cl) })
		},
	}
	c.AddCommand(newEgressGrantCommand(a), newEgressRevokeCommand(a), newEgressDenyCommand(a), newEgressModeCommand(a), newEgressReloadCommand(a))
	return c
}

func newEgressGrantCommand(a *app) *cobra.Command {
	var req api.GrantRequest
	var expires time.Duration
	c := &cobra.Command{
		Use: "grant HOST", Short: "Let a host out, port 443 or HOST:PORT",
		Long: "Let a host out for the task that asks for it, for its run, or always. With --task or --run\n" +
			"it is for another one that is open.",
		Example: "  choir egress grant example.com --for task\n  choir egress grant example.com:8080 --for always --expires 24h",
		RunE: func(c *cobra.Command, args []string) (err error) {
			if req.Host, req.Port, err = readHostPort(args[0]); err != nil {
				return err
			}
			if c.Flags().Changed("expires") && expires < time.Second {
				return choir.RefuseField("--expires", choir.ReasonExpiresTooShort)
			}
			req.ExpiresS = int64(expires / time.Second)
			return a.withComputer(c.Context(), func(ctx context.Context, cl *client) error { return runEgressGrant(ctx, a, cl, req) })
		},
	}
	c.Flags().StringVar(&req.Scope, "for", string(choir.EgressForTask), "task, run or always")
	c.Flags().StringVar((*string)(&req.Run), "run", "", "run that it is for (default that of the newest task that asks)")
	c.Flags().StringVar((*string)(&req.Task), "task", "", "task that it is for (default the newest that asks)")
	c.Flags().DurationVar(&expires, "expires", 0, "time after which it ends, such as 1h (default never, or with its task or run)")
	return c
}

func newEgressRevokeCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "revoke HOST", Short: "End the grants of a host at once, and cut what is open by them",
		RunE: func(c *cobra.Command, args []string) error {
			return a.withHost(c.Context(), args[0], func(ctx context.Context, cl *client, req api.HostRequest) error {
				var done api.RevokedView
				if err := cl.post(ctx, cl.path("/egress/revoke"), req, &done); err != nil {
					return err
				}
				if a.json {
					a.printJSON(done)
				} else {
					a.printf("Revoked %s of %s.\n", timeline.Count(done.Revoked, "grant"), hostPort(req.Host, req.Port))
				}
				return nil
			})
		},
	}
}

func newEgressDenyCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "deny HOST", Short: "Answer the request for a host with no; its runs do not ask for it again",
		RunE: func(c *cobra.Command, args []string) error {
			return a.withHost(c.Context(), args[0], func(ctx context.Context, cl *client, req api.HostRequest) error {
				if err := cl.post(ctx, cl.path("/egress/deny"), req, nil); err != nil || a.json {
					return err
				}
				a.printf("Denied %s:%d; the runs that asked do not ask for it again.\n", req.Host, cmp.Or(req.Port, 443))
				return nil
			})
		},
	}
}

func newEgressModeCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "mode MODE", Short: "Choose the policy for hosts outside: none, allowlist or git+pkg",
		Long: "Choose what programs in the sandboxes reach outside, for every computer, where choir.toml gives\n" +
			"no egress.mode. With none they reach nothing, and nobody asks. With allowlist they reach what\n" +
			"you grant, and the rest is asked for. git+pkg lets out the known git hosts and package\n" +
			"registries as well. What does not fit any more is cut at once.",
		Example: "  choir egress mode allowlist\n  choir egress mode none",
		RunE: func(c *cobra.Command, args []string) error {
			mode := choir.EgressMode(args[0])
			if !slices.Contains([]choir.EgressMode{choir.EgressNone, choir.EgressAllowlist, choir.EgressGitPkg}, mode) {
				return choir.RefuseField("MODE", choir.ReasonNotAMode, choir.TextOf("given", args[0]))
			}
			return a.withComputer(c.Context(), func(ctx context.Context, cl *client) error {
				var done api.EgressReloaded
				if err := cl.put(ctx, "/api/egress/mode", api.EgressChoice{Mode: mode}, &done); err != nil {
					return err
				}
				a.printEgressInForce(done)
				return nil
			})
		},
	}
}

// printEgressInForce prints the policy for hosts outside that a request put in force.
func (a *app) printEgressInForce(done api.EgressReloaded) {
	if a.json {
		a.printJSON(done)
		return
	}
	a.printf("In force: mode %s with %s of the allow list; %s cut.\n", done.Mode, timeline.Count(done.Hosts, "host"), timeline.Count(done.Cut, "connection"))
}

func newEgressReloadCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "reload", Short: "Put the section [egress] of the configuration file in force",
		Long: "Read the configuration file again and put its section [egress] in force, for every computer:\n" +
			"what does not fit any more is cut at once. With an error in the file the old policy stays.\n" +
			"The same happens when choir gets SIGHUP; an error is then in its log.",
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withComputer(c.Context(), func(ctx context.Context, cl *client) error {
				var done api.EgressReloaded
				if err := cl.post(ctx, "/api/egress/reload", nil, &done); err != nil {
					return err
				}
				a.printEgressInForce(done)
				return nil
			})
		},
	}
}

// withHost calls do with a client and the host of an argument.
func (a *app) withHost(ctx context.Context, arg string, do func(context.Context, *client, api.HostRequest) error) error {
	host, port, err := readHostPort(arg)
	if err != nil {
		return err
	}
	return a.withComputer(ctx, func(ctx context.Context, cl *client) error {
		return do(ctx, cl, api.HostRequest{Host: host, Port: port})
	})
}

// readHostPort splits HOST, HOST:PORT or [IPv6]:PORT; the port is 443 when nothing is said.
func readHostPort(arg string) (host string, port int, err error) {
	host, port = arg, 443
	colons := strings.Count(arg, ":")
	if h, p, err := net.SplitHostPort(arg); err == nil && (colons == 1 || strings.HasPrefix(arg, "[")) {
		n, err := strconv.ParseUint(p, 10, 16)
		if err != nil || n == 0 {
			return "", 0, choir.RefuseField("HOST", choir.ReasonHostWithoutPort, choir.TextOf("given", arg))
		}
		return h, int(n), nil
	}
	return strings.Trim(host, "[]"), port, nil
}

// hostPort returns a host and port as people write them.
func hostPort(host string, port int) string { return net.JoinHostPort(host, strconv.Itoa(port)) }

func runEgressGrant(ctx context.Context, a *app, c *client, req api.GrantRequest) error {
	var g choir.EgressGranted
	if err := c.post(ctx, c.path("/egress/grants"), req, &g); err != nil {
		return err
	}
	if a.json {
		a.printJSON(g)
		return nil
	}
	a.printf("Granted %s for %s%s.\n", hostPort(g.Host, g.Port), scopes[g.Scope], until(g.Expires))
	return nil
}

// scopes names the work that a grant of each scope is for.
var scopes = map[choir.EgressScope]string{choir.EgressForTask: "the task", choir.EgressForRun: "the run", choir.EgressAlways: "always"}

// until says when a grant ends by itself; "" for never.
func until(t choir.Time) string {
	if t == 0 {
		return ""
	}
	return ", until " + t.Std().Local().Format("2006-01-02 15:04:05")
}

func runEgress(ctx context.Context, a *app, c *client) error {
	var v api.EgressView
	if err := c.get(ctx, c.path("/egress"), &v); err != nil {
		return err
	}
	if a.json {
		a.printJSON(v)
		return nil
	}
	a.printf("Policy: %s.\n", v.Mode)
	a.printNone(len(v.Requests)+v.Unlisted+len(v.Grants), "No task asks for a host, and nothing is granted.")
	for _, r := range v.Requests {
		a.printf("asks      %s  refused %s by %s (%s)\n", hostPort(r.Host, r.Port), timeline.Count(r.Count, "time"), r.Policy, r.Why)
		for _, asker := range r.Askers {
			a.printAsker(asker)
		}
	}
	if v.Unlisted > 0 {
		a.printf("and %s more that found no room in this list: answer some of these first\n", timeline.Count(v.Unlisted, "refusal"))
	}
	for _, g := range v.Grants {
		a.printf("granted   %s  for %s%s%s\n", hostPort(g.Host, g.Port), scopes[g.Scope], until(g.Expires), ofWork(g.Run, g.Task))
	}
	return nil
}

// ofWork names the run and task of a grant; "" for none.
func ofWork(run, task choir.ID) string {
	switch {
	case task != "":
		return "  task " + string(task)
	case run != "":
		return "  run " + string(run)
	}
	return ""
}

// printAsker prints who asks for a host and what it was doing; its words are untrusted.
func (a *app) printAsker(asker api.EgressAsker) {
	state := ""
	if asker.Over {
		state = " (over)"
	}
	a.printf("  task %s%s of run %s: %s\n", asker.Task, state, asker.Run, asker.Instruction)
	if asker.Tool != "" {
		a.printf("  %s: %s\n", asker.Tool, asker.Command)
	}
}
