package egress

import (
	"strings"
	"testing"

	"choiros/internal/choir"
)

func TestThePolicyOfAListSaysWhatItLetsOut(t *testing.T) {
	p := policyOf(t,
		choir.EgressHost{Host: "api.test"},
		choir.EgressHost{Host: "*.wide.test", Port: 8443},
		choir.EgressHost{Host: "plain.test", Port: 80, Methods: []string{"GET"}, Paths: []string{"/pub", "/v1/"}},
	)
	tunnel := func(host string, port int) Target { return Target{Host: host, Port: port, Tunnel: true} }
	plain := func(method, path string) Target {
		return Target{Host: "plain.test", Port: 80, Method: method, Path: path}
	}
	for _, c := range []struct {
		t    Target
		want bool
	}{
		{tunnel("api.test", 443), true},
		{tunnel("api.test", 80), false},
		{tunnel("x.api.test", 443), false},
		{tunnel("a.wide.test", 8443), true},
		{tunnel("a.b.wide.test", 8443), true},
		{tunnel("wide.test", 8443), false},
		{tunnel("notwide.test", 8443), false},
		{tunnel("plain.test", 80), false}, // its methods and paths could not be seen
		{plain("GET", "/pub"), true},
		{plain("GET", "/pub/x"), true},
		{plain("GET", "/public"), false},
		{plain("GET", "/v1/x"), true},
		{plain("POST", "/pub"), false},
		{plain("GET", "/pub/../secret"), false},
		{plain("GET", "/pub/%2e%2e/secret"), false},
		{plain("GET", "/pub//x"), false},
		{plain("GET", `/pub/..\secret`), false},
		{plain("GET", "/pub/..;/secret"), false},
	} {
		if _, got := p.Find(c.t); got != c.want {
			t.Errorf("%+v: %v", c.t, got)
		}
	}
	if _, ok := (Policy{}).Find(tunnel("api.test", 443)); ok {
		t.Error("the zero policy lets something out")
	}
}

func TestThePolicyOfGitAndPackagesHasThem(t *testing.T) {
	p, err := NewPolicy(choir.EgressGitPkg, []choir.EgressHost{{Host: "own.test", Port: 22}})
	if err != nil {
		t.Fatal(err)
	}
	for want, targets := range map[bool][]Target{
		true: {
			{Host: gitAndPackages[0], Port: 443, Tunnel: true}, {Host: gitAndPackages[10], Port: 443, Tunnel: true},
			{Host: unencrypted[0], Port: 80, Method: "GET", Path: "/debian/x"}, {Host: "own.test", Port: 22, Tunnel: true},
		},
		false: {
			{Host: gitAndPackages[0], Port: 22, Tunnel: true}, {Host: unencrypted[0], Port: 80, Tunnel: true},
			{Host: unencrypted[0], Port: 80, Method: "POST", Path: "/"}, {Host: "example.com", Port: 443, Tunnel: true},
			{Host: "evil." + gitAndPackages[0], Port: 443, Tunnel: true},
		},
	} {
		for _, target := range targets {
			if _, got := p.Find(target); got != want {
				t.Errorf("%+v: %v", target, got)
			}
		}
	}
	for i, host := range gitAndPackages {
		if canonical, ok := canonicalHost(host); !ok || canonical != host {
			t.Errorf("%d: %q is not canonical", i, host)
		}
	}
}

func TestAPolicyThatIsNoneIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		mode choir.EgressMode
		host choir.EgressHost
		path string
	}{
		"an unknown mode":         {"open", choir.EgressHost{Host: "a.test"}, "mode"},
		"hosts in none":           {choir.EgressNone, choir.EgressHost{Host: "a.test"}, "allowlist"},
		"no host":                 {choir.EgressAllowlist, choir.EgressHost{}, "allowlist[0].host"},
		"a scheme":                {choir.EgressAllowlist, choir.EgressHost{Host: "https://a.test"}, "allowlist[0].host"},
		"capitals":                {choir.EgressAllowlist, choir.EgressHost{Host: "A.test"}, "allowlist[0].host"},
		"a dot at the end":        {choir.EgressAllowlist, choir.EgressHost{Host: "a.test."}, "allowlist[0].host"},
		"a star alone":            {choir.EgressAllowlist, choir.EgressHost{Host: "*"}, "allowlist[0].host"},
		"a star inside":           {choir.EgressAllowlist, choir.EgressHost{Host: "a*.test"}, "allowlist[0].host"},
		"names below an address":  {choir.EgressAllowlist, choir.EgressHost{Host: "*.192.0.2.1"}, "allowlist[0].host"},
		"another script":          {choir.EgressAllowlist, choir.EgressHost{Host: "bücher.test"}, "allowlist[0].host"},
		"a number":                {choir.EgressAllowlist, choir.EgressHost{Host: "2130706433"}, "allowlist[0].host"},
		"a port":                  {choir.EgressAllowlist, choir.EgressHost{Host: "a.test", Port: 65536}, "allowlist[0].port"},
		"paths with escapes":      {choir.EgressAllowlist, choir.EgressHost{Host: "a.test", Paths: []string{"/%78"}}, "allowlist[0].paths"},
		"a path from nowhere":     {choir.EgressAllowlist, choir.EgressHost{Host: "a.test", Port: 80, Paths: []string{"x"}}, "allowlist[0].paths"},
		"a path with a way up":    {choir.EgressAllowlist, choir.EgressHost{Host: "a.test", Port: 80, Paths: []string{"/x/../y"}}, "allowlist[0].paths"},
		"a method in small type":  {choir.EgressAllowlist, choir.EgressHost{Host: "a.test", Port: 80, Methods: []string{"get"}}, "allowlist[0].methods"},
		"a tunnel for its method": {choir.EgressAllowlist, choir.EgressHost{Host: "a.test", Port: 80, Methods: []string{"CONNECT"}}, "allowlist[0].methods"},
	} {
		_, err := NewPolicy(c.mode, []choir.EgressHost{c.host})
		if choir.CodeOf(err) != choir.CodeInvalid || !strings.HasPrefix(err.Error(), c.path+":") && !strings.Contains(err.Error(), c.path) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAWiderPolicyIsSeen(t *testing.T) {
	git, _ := NewPolicy(choir.EgressGitPkg, nil)
	wild := policyOf(t, choir.EgressHost{Host: "*.a.test"})
	rule := policyOf(t, choir.EgressHost{Host: "p.test", Port: 80, Methods: []string{"GET", "HEAD"}, Paths: []string{"/x"}})
	for _, c := range []struct {
		name        string
		wide, small Policy
		want        bool
	}{
		{"nothing in none", Policy{}, Policy{}, true},
		{"git in none", Policy{}, git, false},
		{"nothing in git", git, Policy{}, true},
		{"git in git", git, git, true},
		{"one host of git", git, policyOf(t, choir.EgressHost{Host: gitAndPackages[0]}), true},
		{"another port of it", git, policyOf(t, choir.EgressHost{Host: gitAndPackages[0], Port: 22}), false},
		{"a name in a wildcard", wild, policyOf(t, choir.EgressHost{Host: "x.a.test"}), true},
		{"a narrower wildcard", wild, policyOf(t, choir.EgressHost{Host: "*.x.a.test"}), true},
		{"a wider wildcard", policyOf(t, choir.EgressHost{Host: "*.x.a.test"}), wild, false},
		{"a wildcard in a name", policyOf(t, choir.EgressHost{Host: "a.test"}), wild, false},
		{"fewer methods, a path below", rule, policyOf(t, choir.EgressHost{Host: "p.test", Port: 80, Methods: []string{"GET"}, Paths: []string{"/x/y"}}), true},
		{"more methods", rule, policyOf(t, choir.EgressHost{Host: "p.test", Port: 80, Methods: []string{"PUT"}, Paths: []string{"/x"}}), false},
		{"all methods", rule, policyOf(t, choir.EgressHost{Host: "p.test", Port: 80, Paths: []string{"/x"}}), false},
		{"another path", rule, policyOf(t, choir.EgressHost{Host: "p.test", Port: 80, Methods: []string{"GET"}, Paths: []string{"/xy"}}), false},
	} {
		if _, wider := c.wide.Beyond(c.small); wider == c.want {
			t.Errorf("%s: %v", c.name, wider)
		}
	}
}
