package main

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"choiros/internal/choir"
	"choiros/internal/computer/grants"
	"choiros/internal/control/api"
)

func newEgressCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "egress", Args: cobra.NoArgs,
		Example: "  choir egress\n  choir egress grant example.com --for run\n  choir egress grant example.com:8443 --for always --expires 1h\n" +
			"  choir egress deny example.com\n  choir egress revoke example.com\n  choir egress mode git+pkg\n  choir egress remove github.com\n  choir egress reload",
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withComputer(c.Context(), func(ctx context.Context, cl *client) error { return runEgress(ctx, a, cl) })
		},
	}
	c.AddCommand(newEgressGrantCommand(a), newEgressRevokeCommand(a), newEgressDenyCommand(a), newEgressModeCommand(a), newEgressListedCommand(a, "remove", false), newEgressListedCommand(a, "restore", true), newEgressReloadCommand(a))
	return c
}

func newEgressGrantCommand(a *app) *cobra.Command {
	var req api.GrantRequest
	var expires time.Duration
	c := &cobra.Command{
		Use:     "grant HOST",
		Example: "  choir egress grant example.com --for task\n  choir egress grant example.com:8080 --for always --expires 24h",
		RunE: func(c *cobra.Command, args []string) (err error) {
			if req.Host, req.Port, err = readHostPort(args[0]); err != nil {
				return err
			}
			if !slices.Contains([]choir.EgressScope{choir.EgressForTask, choir.EgressForRun, choir.EgressAlways}, choir.EgressScope(req.Scope)) {
				return choir.RefuseField("--for", choir.ReasonNotAScope, choir.TextOf("given", req.Scope))
			}
			switch {
			case c.Flags().Changed("expires") && expires < time.Second:
				return choir.RefuseField("--expires", choir.ReasonExpiresTooShort)
			case expires > grants.MaxLasts:
				return choir.RefuseField("--expires", choir.ReasonGrantTooLong)
			}
			req.ExpiresS = int64(expires / time.Second)
			return a.withComputer(c.Context(), func(ctx context.Context, cl *client) error { return runEgressGrant(ctx, a, cl, req) })
		},
	}
	c.Flags().StringVar(&req.Scope, "for", string(choir.EgressForTask), "")
	c.Flags().StringVar((*string)(&req.Run), "run", "", "")
	c.Flags().StringVar((*string)(&req.Task), "task", "", "")
	c.Flags().DurationVar(&expires, "expires", 0, "")
	return c
}

func newEgressRevokeCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "revoke HOST",
		RunE: func(c *cobra.Command, args []string) error {
			return a.withHost(c.Context(), args[0], func(ctx context.Context, cl *client, req api.HostRequest) error {
				var done api.RevokedView
				if err := cl.post(ctx, cl.path("/egress/revoke"), req, &done); err != nil {
					return err
				}
				if a.json {
					a.printJSON(done)
				} else {
					a.say("egress.revokedGrants", "n", done.Revoked, "host", hostPort(req.Host, req.Port))
				}
				return nil
			})
		},
	}
}

func newEgressDenyCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "deny HOST",
		RunE: func(c *cobra.Command, args []string) error {
			return a.withHost(c.Context(), args[0], func(ctx context.Context, cl *client, req api.HostRequest) error {
				if err := cl.post(ctx, cl.path("/egress/deny"), req, nil); err != nil || a.json {
					return err
				}
				a.say("egress.deniedHost", "host", fmt.Sprintf("%s:%d", req.Host, cmp.Or(req.Port, 443)))
				return nil
			})
		},
	}
}

func newEgressModeCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "mode MODE",
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

// newEgressListedCommand returns the command that takes a host away from the list of git+pkg, or
// puts it back.
func newEgressListedCommand(a *app, name string, out bool) *cobra.Command {
	return &cobra.Command{
		Use:     name + " HOST",
		Example: "  choir egress " + name + " github.com",
		RunE: func(c *cobra.Command, args []string) error {
			return a.withHost(c.Context(), args[0], func(ctx context.Context, cl *client, req api.HostRequest) error {
				var done api.EgressReloaded
				if err := cl.put(ctx, "/api/egress/listed", api.ListedHost{Host: req.Host, Out: out}, &done); err != nil {
					return err
				}
				switch {
				case a.json:
					a.printJSON(done)
				case out:
					a.say("egress.restored", "host", req.Host)
				default:
					a.say("egress.removed", "host", req.Host, "cut", a.count("connection", done.Cut))
				}
				return nil
			})
		},
	}
}

// printEgressInForce prints the policy for hosts outside that a request put in force.
func (a *printer) printEgressInForce(done api.EgressReloaded) {
	if a.json {
		a.printJSON(done)
		return
	}
	a.say("egress.inForce", "mode", done.Mode, "hosts", a.count("host", done.Hosts), "rules", a.count("rule", done.Rules), "cut", a.count("connection", done.Cut))
}

func newEgressReloadCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "reload",
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withComputer(c.Context(), func(ctx context.Context, cl *client) error {
				var done api.EgressReloaded
				if err := cl.post(ctx, "/api/egress/reload", nil, &done); err != nil {
					a.warn("egress.kept")
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

// maxHostName is the number of characters of the longest name that DNS has (RFC 1035, 2.3.4).
const maxHostName = 253

// readHostPort splits HOST, HOST:PORT or [IPv6]:PORT; the port is 443 when nothing is said. Code
// invalid: a web address, a port that is none, no host, or a host longer than any name.
func readHostPort(arg string) (host string, port int, err error) {
	port = 443
	if u, err := url.Parse(arg); err == nil && u.Scheme != "" && u.Host != "" {
		return "", 0, choir.RefuseField("HOST", choir.ReasonHostIsAddress, choir.TextOf("given", arg), choir.TextOf("host", u.Host))
	}
	colons := strings.Count(arg, ":")
	if h, p, err := net.SplitHostPort(arg); err == nil && (colons == 1 || strings.HasPrefix(arg, "[")) {
		n, err := strconv.ParseUint(p, 10, 16)
		if err != nil || n == 0 {
			return "", 0, choir.RefuseField("HOST", choir.ReasonHostWithoutPort, choir.TextOf("given", arg))
		}
		arg, port = h, int(n)
	}
	if host = strings.Trim(arg, "[]"); host == "" || len(host) > maxHostName {
		return "", 0, choir.RefuseField("HOST", choir.ReasonHostRule, choir.TextOf("given", arg))
	}
	return host, port, nil
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
	a.say("egress.grantedHost", "host", hostPort(g.Host, g.Port), "scope", a.term("scope", g.Scope), "until", a.until(g.Expires))
	return nil
}

// until says when a grant ends by itself; "" for never.
func (a *printer) until(t choir.Time) string {
	if t == 0 {
		return ""
	}
	return a.sentence("egress.until", "at", t.Std().Local().Format("2006-01-02 15:04:05"))
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
	a.say("egress.policy", "mode", v.Mode)
	a.printRules(v.Rules)
	if len(v.Away) > 0 {
		a.printf("%s   %s\n", a.label("egress", "away"), strings.Join(v.Away, " "))
	}
	a.sayNone(len(v.Requests)+v.Unlisted+len(v.Grants), "egress.none")
	for _, r := range v.Requests {
		a.printf("%s   %s\n", a.label("egress", "asks"), a.sentence("egress.asked", "n", r.Count, "host", hostPort(r.Host, r.Port), "policy", r.Policy, "why", a.term("egressWhy", r.Why)))
		for _, asker := range r.Askers {
			a.printAsker(asker)
		}
	}
	if v.Unlisted > 0 {
		a.say("egress.unlisted", "n", v.Unlisted)
	}
	for _, g := range v.Grants {
		a.printf("%s   %s\n", a.label("egress", "granted"), a.sentence("egress.given", "host", hostPort(g.Host, g.Port), "scope", a.term("scope", g.Scope), "until", a.until(g.Expires), "work", a.ofWork(g.Run, g.Task)))
	}
	a.printReached(v.Reached)
	return nil
}

// printRules prints what the policy lets out without a grant, and into which of it choir looks.
func (a *printer) printRules(rules []api.EgressRule) {
	var whole []string
	for _, r := range rules {
		at := hostPort(r.Host, r.Port)
		if len(r.Methods)+len(r.Paths)+len(r.Opened) == 0 {
			whole = append(whole, at)
			continue
		}
		said := strings.Join(append(append([]string{at}, r.Methods...), r.Paths...), " ")
		if r.Opened != "" {
			said += "  " + a.sentence("egress.opened", "why", a.term("egressOpened", r.Opened))
		}
		a.printf("%s   %s\n", a.label("egress", "out"), said)
	}
	if len(whole) > 0 {
		a.printf("%s   %s\n", a.label("egress", "out"), strings.Join(whole, " "))
	}
}

// printReached prints the hosts that programs reached so far.
func (a *printer) printReached(hosts []api.ReachedHost) {
	for _, h := range hosts {
		at := hostPort(h.Host, h.Port)
		if h.Host == "" {
			at = a.sentence("egress.others")
		}
		a.printf("%s   %s\n", a.label("egress", "reached"), a.sentence("egress.reachedHost", "host", at, "n", h.Requests, "sent", a.size(h.Sent), "received", a.size(h.Received), "at", h.Last.Std().Local().Format("2006-01-02 15:04:05")))
	}
}

// ofWork names the run and task of a grant; "" for none.
func (a *printer) ofWork(run, task choir.ID) string {
	switch {
	case task != "":
		return a.sentence("egress.ofTask", "task", task)
	case run != "":
		return a.sentence("egress.ofRun", "run", run)
	}
	return ""
}

// printAsker prints who asks for a host and what it was doing; its words are untrusted.
func (a *printer) printAsker(asker api.EgressAsker) {
	key := "egress.asker"
	if asker.Over {
		key = "egress.askerOver"
	}
	a.say(key, "task", asker.Task, "run", asker.Run, "text", asker.Instruction)
	if asker.Tool != "" {
		a.printf("  %s: %s\n", asker.Tool, asker.Command)
	}
}
