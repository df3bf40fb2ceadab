package egress

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"choiros/internal/choir"
)

// tlsPort is the port whose tunnels must begin with TLS for the allowed host.
const tlsPort = 443

// Rule lets requests to one host and port out.
type Rule struct {
	// Host is a canonical host name or address. "*.example.com" stands for every name below
	// example.com, and not for example.com.
	Host string
	Port int
	// Methods and Paths, where given, limit the rule to requests with one of the methods and
	// below one of the paths. Such a rule lets no tunnel out whole: the proxy looks into it, and
	// on port 443 ends its TLS.
	Methods []string
	Paths   []string
	// Known marks the rules of mode git+pkg.
	Known bool
}

// Policy lists the hosts that may be reached. The zero value lets nothing out.
type Policy struct {
	Mode  choir.EgressMode
	rules []Rule
}

// NewPolicy returns the policy of a mode with the hosts of a list, which add to those of
// git+pkg. Code invalid, with the path of the entry: a host that is not canonical, a path that
// is no clean one, or hosts in mode none.
func NewPolicy(mode choir.EgressMode, hosts []choir.EgressHost) (Policy, error) {
	p := Policy{Mode: mode}
	switch mode {
	case choir.EgressNone:
		if len(hosts) > 0 {
			return Policy{}, choir.RefuseField("allowlist", choir.ReasonAllowlistWithNone)
		}
	case choir.EgressGitPkg:
		p.rules = listed()
	case choir.EgressAllowlist:
	default:
		return Policy{}, choir.RefuseField("mode", choir.ReasonEgressMode, choir.TextOf("given", mode))
	}
	for i, h := range hosts {
		rule, err := newRule(h)
		if err != nil {
			return Policy{}, choir.Under("allowlist["+strconv.Itoa(i)+"]", err)
		}
		p.rules = append(p.rules, rule)
	}
	return p, nil
}

// Without returns the policy without hosts of the list of git+pkg that the owner took away. Code
// invalid, with the path of the entry: a host that the list does not have.
func (p Policy) Without(hosts []string) (Policy, error) {
	for i, host := range hosts {
		if !IsListed(host) {
			return Policy{}, choir.RefuseField("without["+strconv.Itoa(i)+"]", choir.ReasonHostNotListed, choir.TextOf("given", host))
		}
	}
	p.rules = slices.DeleteFunc(slices.Clone(p.rules), func(r Rule) bool { return r.Known && slices.Contains(hosts, r.Host) })
	return p, nil
}

// newRule returns the rule of an entry. Code invalid: see NewPolicy.
func newRule(h choir.EgressHost) (Rule, error) {
	r := Rule{Host: h.Host, Port: h.Port, Methods: h.Methods, Paths: h.Paths}
	if r.Port == 0 {
		r.Port = tlsPort
	}
	name := strings.TrimPrefix(r.Host, "*.")
	canonical, ok := canonicalHost(name)
	switch {
	case !ok || canonical != name:
		return Rule{}, choir.RefuseField("host", choir.ReasonHostRule, choir.TextOf("given", h.Host))
	case name != r.Host && isAddress(name):
		return Rule{}, choir.RefuseField("host", choir.ReasonHostBelowAddress, choir.TextOf("given", h.Host))
	case r.Port < 1 || r.Port > 65535:
		return Rule{}, choir.RefuseField("port", choir.ReasonFieldNoPort, choir.TextOf("given", r.Port))
	}
	for _, m := range h.Methods {
		if m == "" || m != strings.ToUpper(m) || m == "CONNECT" {
			return Rule{}, choir.RefuseField("methods", choir.ReasonHTTPMethodRule, choir.TextOf("given", m))
		}
	}
	for _, p := range h.Paths {
		if !cleanPath(p) {
			return Rule{}, choir.RefuseField("paths", choir.ReasonPathRule, choir.TextOf("given", p))
		}
	}
	return r, nil
}

// Find returns the rule that lets a target out; ok is false if none does.
func (p Policy) Find(t Target) (rule Rule, ok bool) {
	i := slices.IndexFunc(p.rules, func(r Rule) bool { return r.lets(t) })
	if i < 0 {
		return Rule{}, false
	}
	return p.rules[i], true
}

// names reports whether a rule has the target's host and port, whatever its methods and paths.
func (p Policy) names(t Target) bool {
	return slices.ContainsFunc(p.rules, func(r Rule) bool { return r.names(t) })
}

// Rules returns the rules of the policy.
func (p Policy) Rules() []Rule { return slices.Clone(p.rules) }

// Inspected returns the rules for whose hosts TLS ends at the proxy.
func (p Policy) Inspected() (rules []Rule) {
	for _, r := range p.rules {
		if r.Port == tlsPort && len(r.Methods)+len(r.Paths) > 0 {
			rules = append(rules, r)
		}
	}
	return rules
}

// With returns the policy with hosts of grants in addition.
func (p Policy) With(grants []Grant) Policy {
	p.rules = slices.Clip(p.rules)
	for _, g := range grants {
		p.rules = append(p.rules, Rule{Host: g.Host, Port: g.Port})
	}
	return p
}

// Narrow returns the policy of a task's profile under this one. Mode git+pkg means this one's
// list, with the hosts that the owner added to it. Code invalid: the profile is none.
func (p Policy) Narrow(profile choir.EgressProfile) (Policy, error) {
	if profile.Mode == choir.EgressGitPkg && p.Mode == choir.EgressGitPkg {
		return p, nil
	}
	return NewPolicy(profile.Mode, profile.Allowlist)
}

// Beyond returns the first rule of another policy that no rule of this one covers; ok is false
// if this policy lets out all that the other one does.
func (p Policy) Beyond(other Policy) (first Rule, ok bool) {
	i := slices.IndexFunc(other.rules, func(o Rule) bool {
		return !slices.ContainsFunc(p.rules, func(r Rule) bool { return r.covers(o) })
	})
	if i < 0 {
		return Rule{}, false
	}
	return other.rules[i], true
}

// String returns the rule's host and port.
func (r Rule) String() string { return Target{Host: r.Host, Port: r.Port}.HostPort() }

// names reports whether the rule has the target's host and port.
func (r Rule) names(t Target) bool { return r.Port == t.Port && r.hasHost(t.Host) }

// Covers reports whether the rule's host is a canonical host or stands for it.
func (r Rule) Covers(host string) bool { return r.hasHost(host) }

// hasHost reports whether the rule's host is host or stands for it.
func (r Rule) hasHost(host string) bool {
	if below, ok := strings.CutPrefix(r.Host, "*"); ok {
		return strings.HasSuffix(host, below) && !isAddress(host)
	}
	return r.Host == host
}

// lets reports whether the rule lets a target out.
func (r Rule) lets(t Target) bool {
	if !r.names(t) {
		return false
	}
	if t.Tunnel {
		return len(r.Methods)+len(r.Paths) == 0
	}
	if t.Overridden && len(r.Methods)+len(r.Paths) > 0 {
		return false
	}
	if len(r.Methods) > 0 && !slices.Contains(r.Methods, t.Method) {
		return false
	}
	return len(r.Paths) == 0 || cleanPath(t.Path) && slices.ContainsFunc(r.Paths, func(p string) bool { return below(t.Path, p) })
}

// covers reports whether the rule lets out whatever another one does.
func (r Rule) covers(o Rule) bool {
	hosts := r.hasHost(o.Host)
	if below, ok := strings.CutPrefix(o.Host, "*"); ok {
		mine, wild := strings.CutPrefix(r.Host, "*")
		hosts = wild && strings.HasSuffix(below, mine)
	}
	if !hosts || r.Port != o.Port {
		return false
	}
	within := func(all, some []string, in func(a, b string) bool) bool {
		return len(all) == 0 || len(some) > 0 && !slices.ContainsFunc(some, func(s string) bool {
			return !slices.ContainsFunc(all, func(a string) bool { return in(s, a) })
		})
	}
	return within(r.Methods, o.Methods, func(a, b string) bool { return a == b }) && within(r.Paths, o.Paths, below)
}

// below reports whether a clean path is prefix or lies below it: /a has /a and /a/b, not /ab.
func below(p, prefix string) bool {
	return p == prefix || strings.HasPrefix(p, strings.TrimSuffix(prefix, "/")+"/")
}

// cleanPath reports whether every server reads an escaped path as the same one: it begins with
// /, has no escapes, no empty, . and .. parts, no backslash and no parameters.
func cleanPath(p string) bool {
	if !strings.HasPrefix(p, "/") || strings.ContainsAny(p, "%\\;?#") {
		return false
	}
	clean := path.Clean(p)
	return p == clean || clean != "/" && p == clean+"/"
}
