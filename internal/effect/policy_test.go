package effect

import (
	"strings"
	"testing"

	"choiros/internal/choir"
)

func TestEachKindOfRuleDemandsAnApproval(t *testing.T) {
	t.Parallel()
	f := Facts{
		Tools: []string{"read_file", "bash"}, Commands: []string{"make test", "git push  origin main"},
		Paths: []string{"app/db/migrations/1.sql", "app/.git/hooks/pre-commit"}, Files: 3, Lines: 40, Hosts: []string{"api.example.com"},
	}
	for _, c := range []struct {
		rule Rule
		met  bool
	}{
		{Rule{Tool: "bash"}, true}, {Rule{Tool: "fetch_url"}, false},
		{Rule{Path: "**/migrations/**"}, true}, {Rule{Path: "app/db/*"}, false}, {Rule{Path: "app/db/**"}, true}, {Rule{Path: "*.sql"}, true},
		{Rule{Path: "1.sq?"}, true}, {Rule{Path: "migrations"}, false}, {Rule{Path: "**/.git/hooks/*"}, true}, {Rule{Path: "x.sql"}, false},
		{Rule{Command: "git push*main"}, true}, {Rule{Command: "git push origin"}, false}, {Rule{Command: "make"}, true}, {Rule{Command: "m.ke"}, false},
		{Rule{Lines: 39}, true}, {Rule{Lines: 40}, false}, {Rule{Files: 2}, true}, {Rule{Files: 3}, false},
		{Rule{Egress: "*"}, true}, {Rule{Egress: "*.example.com"}, true}, {Rule{Egress: "example.com"}, false}, {Rule{Egress: "api.example.com"}, true}, {Rule{Egress: "*.ample.com"}, false},
		{Rule{Tool: "bash", Path: "*.go"}, false}, {Rule{Tool: "bash", Path: "*.sql", Lines: 10, Files: 1, Command: "make", Egress: "*"}, true},
	} {
		p, err := NewPolicy([]Rule{c.rule})
		if err != nil {
			t.Fatalf("%+v: %v", c.rule, err)
		}
		if got := p.Demands(f); (len(got) > 0) != c.met {
			t.Errorf("%+v demands %v", c.rule, got)
		}
		if got := p.Demands(Facts{}); len(got) > 0 {
			t.Errorf("%+v demands %v of a task that did nothing", c.rule, got)
		}
	}
}

// TestALinkLeadsBelowTheFoldersOfAPath, so that nothing comes to be there that the rule does not
// see; a rule about names alone is about the names that changed.
func TestALinkLeadsBelowTheFoldersOfAPath(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		path, link string
		met        bool
	}{
		{"app/db/**", "app/db", true}, {"app/db/**", "app", true}, {"/app/db/*.sql", "app/db", true}, {"app/d*/x", "app/data", true},
		{"**/secret/**", "app/deep/secret", true}, {"app/db/**", "app/dbs", false}, {"app/db/**", "lib/db", false},
		{"*.sql", "app/db", false}, {"app/*/x", "app/any", false}, {"**/x", "app/any", false},
	} {
		p, err := NewPolicy([]Rule{{Path: c.path}})
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Demands(Facts{Paths: []string{c.link}, Links: []string{c.link}}); (len(got) > 0) != c.met {
			t.Errorf("%s demands %v of a link at %s", c.path, got, c.link)
		}
		if got := p.Demands(Facts{Paths: []string{c.link}}); len(got) > 0 {
			t.Errorf("%s demands %v of a file at %s", c.path, got, c.link)
		}
	}
}

func TestATaskThatWantedTooManyHostsCanHaveWantedAny(t *testing.T) {
	t.Parallel()
	p, err := NewPolicy([]Rule{{Egress: "api.example.com", Path: "*.sql"}})
	if err != nil {
		t.Fatal(err)
	}
	for f, met := range map[*Facts]bool{{AnyHost: true, Paths: []string{"a.sql"}}: true, {AnyHost: true, Paths: []string{"a"}}: false, {Hosts: []string{"b"}, Paths: []string{"a.sql"}}: false} {
		if got := p.Demands(*f); (len(got) > 0) != met {
			t.Errorf("%+v: %v", f, got)
		}
	}
}

func TestOneRuleIsEnoughAndItsNameIsTold(t *testing.T) {
	t.Parallel()
	p, err := NewPolicy([]Rule{{Path: "*.sql"}, {Name: "deploys", Command: "deploy"}, {Name: strings.Repeat("x", 200), Path: strings.Repeat("ü", 100)}})
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Demands(Facts{Commands: []string{"./deploy now"}}); len(got) != 1 || got[0] != "deploys (command deploy)" {
		t.Errorf("%q", got)
	}
	if got := p.Demands(Facts{Paths: []string{strings.Repeat("ü", 100)}}); len(got) != 1 || len(got[0]) > 400 {
		t.Errorf("%q", got)
	}
	if !(Policy{}).Empty() || p.Empty() || len((Policy{}).Demands(Facts{Paths: []string{"a.sql"}})) > 0 {
		t.Error("an empty policy demands something")
	}
}

func TestHostsOfRulesAreHeld(t *testing.T) {
	t.Parallel()
	p, err := NewPolicy([]Rule{{Path: "*.sql"}, {Egress: "*.example.com", Lines: 5}})
	if err != nil {
		t.Fatal(err)
	}
	for host, held := range map[string]bool{"a.example.com": true, "example.com": false, "a.b.example.com": true, "example.org": false} {
		if p.Holds(host) != held {
			t.Errorf("%s: held is %v", host, !held)
		}
	}
}

func TestWhichTasksCouldMeetARule(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rule  Rule
		ahead Ahead
		may   bool
	}{
		{Rule{Lines: 1}, Ahead{Project: "app", Tools: []string{"bash"}}, true},
		{Rule{Tool: "fetch_url"}, Ahead{}, true},
		{Rule{Tool: "fetch_url", Lines: 1}, Ahead{Tools: []string{"bash"}}, false},
		{Rule{Tool: "bash"}, Ahead{Tools: []string{"bash"}}, true},
		{Rule{Path: "app/db/**"}, Ahead{Project: "app"}, true},
		{Rule{Path: "/app/db/**"}, Ahead{Project: "lib"}, false},
		{Rule{Path: "app/db/**"}, Ahead{}, true},
		{Rule{Path: "a*/db/**"}, Ahead{Project: "lib"}, true},
		{Rule{Path: "*.sql"}, Ahead{Project: "lib"}, true},
		{Rule{Path: "/top"}, Ahead{Project: "lib"}, true},
	} {
		p, err := NewPolicy([]Rule{c.rule})
		if err != nil {
			t.Fatal(err)
		}
		if got := p.MayDemand(c.ahead); got != c.may {
			t.Errorf("%+v of %+v: %v", c.rule, c.ahead, got)
		}
	}
	if (Policy{}).MayDemand(Ahead{}) {
		t.Error("no policy could demand something")
	}
}

func TestWrongRulesAreNamed(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]Rule{
		"[1]":         {Name: "nothing"},
		"[1].tool":    {Tool: "shell"},
		"[1].lines":   {Lines: -1},
		"[1].files":   {Files: -2},
		"[1].egress":  {Egress: "https://example.com"},
		"[1].path":    {Path: strings.Repeat("a", 201)},
		"[1].command": {Command: "a\nb"},
		"[1].name":    {Name: "a\nb", Lines: 1},
	} {
		_, err := NewPolicy([]Rule{{Tool: "bash"}, r})
		if choir.CodeOf(err) != choir.CodeInvalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", r, err)
		}
	}
}
