package egress

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"choiros/internal/choir"
)

// granted is the grant of the tests, for a tunnel to good.test.
var granted = Grant{ID: choir.ID("0190a000-0000-7000-8000-000000000001"), Host: "good.test", Port: 22, Run: "run", Task: "task"}

// newGrantRig starts a proxy under a policy without hosts, with an echo at every address.
func newGrantRig(t *testing.T, grants ...Grant) *rig {
	g := newRig(t, policyOf(t))
	g.work = Work{Run: "run", Task: "task", Grants: grants}
	g.asks = true
	g.serve(good, 22, echo(t))
	g.serve(other, 22, echo(t))
	return g
}

// opened opens a tunnel and returns it once a byte went there and back.
func (g *rig) opened(hostPort string) net.Conn {
	g.t.Helper()
	r, in, conn := g.sendRaw(connectTo(hostPort))
	if r.StatusCode != 200 {
		g.t.Fatalf("%s: %s", hostPort, r.Status)
	}
	if _, err := io.WriteString(conn, "x"); err != nil {
		g.t.Fatal(err)
	}
	if b, err := in.ReadByte(); err != nil || b != 'x' {
		g.t.Fatalf("%q %v", b, err)
	}
	return conn
}

// isCut demands that a tunnel ends, and is recorded as cut for a reason under its grant.
func (g *rig) isCut(conn net.Conn, why string) {
	g.t.Helper()
	if _, err := bufio.NewReader(conn).ReadByte(); err == nil {
		g.t.Error("it goes on")
	}
	if e := g.nextPassage(); e.Cut != why || e.Grant != granted.ID {
		g.t.Errorf("recorded %+v", e)
	}
}

// TestAGrantOpensItsHostAndPortAlone asks for what differs from a granted host by a port, case, a
// dot, another script, a name below it or a longer name, and for another host behind its Host.
func TestAGrantOpensItsHostAndPortAlone(t *testing.T) {
	for _, to := range []string{
		"good.test:23", "good.test:443", "other.test:22", "x.good.test:22", "xgood.test:22", "good.test.other.test:22", "good.test.:22",
		"g\u043e\u043ed.test:22", "xn--gd-jbca.test:22", "good.test@other.test:22", "198.18.0.1:22", "good.test\u202e:22", "good\x1b.test:22",
	} {
		g := newGrantRig(t, granted)
		r, _, _ := g.sendRaw(connectTo(to))
		if r.StatusCode == 200 || g.touched() {
			t.Errorf("%q: %s, dialled %v", to, r.Status, g.world.dialled)
		}
	}
	g := newGrantRig(t, granted)
	g.opened("good.test:22").Close()
	if e := g.nextPassage(); e.Grant != granted.ID {
		t.Errorf("the use does not name the grant: %+v", e)
	}
	// A name has one canonical form, so that capitals are the same host and no other.
	g.opened("GOOD.test:22").Close()
}

// TestAnOpenTunnelIsCutWhenARuleHoldsItsHost, and another one goes on.
func TestAnOpenTunnelIsCutWhenARuleHoldsItsHost(t *testing.T) {
	g := newGrantRig(t, granted, Grant{ID: "another", Host: "other.test", Port: 22})
	held, other := g.opened("good.test:22"), g.opened("other.test:22")
	g.CutHeld(func(host string) bool { return host == "good.test" })
	g.isCut(held, "held")
	if _, err := io.WriteString(other, "y"); err != nil {
		t.Fatal(err)
	}
	if b, err := bufio.NewReader(other).ReadByte(); err != nil || b != 'y' {
		t.Errorf("the other one: %q %v", b, err)
	}
}

// TestARedirectLeadsNoFurtherThanTheGrant follows an answer of the granted host to another one.
func TestARedirectLeadsNoFurtherThanTheGrant(t *testing.T) {
	heard := false
	victim := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { heard = true }))
	defer victim.Close()
	first := httptest.NewServer(http.RedirectHandler("http://other.test/", http.StatusFound))
	defer first.Close()
	plain := granted
	plain.Port = 80
	g := newGrantRig(t, plain)
	g.serve(good, 80, first.URL)
	g.serve(other, 80, victim.URL)
	if r, _, _ := g.sendRaw("GET http://good.test/ HTTP/1.1\r\nHost: good.test\r\n\r\n"); r.StatusCode != 302 || r.Header.Get("Location") != "http://other.test/" {
		t.Fatalf("the control: %s", r.Status)
	}
	if r, _, _ := g.sendRaw("GET http://other.test/ HTTP/1.1\r\nHost: good.test\r\n\r\n"); r.StatusCode != 403 || heard {
		t.Errorf("%s, heard %v", r.Status, heard)
	}
}

// TestAGrantOpensNoAddressInside has a granted name lead to addresses that are not public, and
// asks for grants of such addresses.
func TestAGrantOpensNoAddressInside(t *testing.T) {
	for _, a := range []string{"127.0.0.1", "10.1.2.3", "169.254.169.254", "fd00:ec2::254", "::1"} {
		g := newGrantRig(t, granted)
		g.world.names["good.test"] = []string{a}
		g.serve(a, 22, echo(t))
		if r, _, _ := g.sendRaw(connectTo("good.test:22")); r.StatusCode != 403 || g.touched() || g.lastRefusal().Why != choir.EgressAddress {
			t.Errorf("%s: %s, %+v", a, r.Status, g.lastRefusal())
		}
		if err := g.CheckGrant(a, 22); err == nil {
			t.Errorf("%s can be granted", a)
		}
	}
	g := newGrantRig(t)
	for _, host := range []string{"localhost", "app.localhost"} {
		if err := g.CheckGrant(host, 80); choir.CodeOf(err) != choir.CodeRefused {
			t.Errorf("%s can be granted: %v", host, err)
		}
	}
	for _, host := range []string{"good.test", "localhost.test", "198.18.0.1", "xn--gd-rmcc.test"} {
		if err := g.CheckGrant(host, 22); err != nil {
			t.Errorf("the control %s: %v", host, err)
		}
	}
	for _, host := range []string{"", "*.good.test", "Good.test", "good.test.", "gööd.test", "good.test:22", "2130706433", "good test", "good\u202e.test", "good\x00.test", "*"} {
		if err := g.CheckGrant(host, 22); choir.CodeOf(err) != choir.CodeInvalid {
			t.Errorf("%q: %v", host, err)
		}
	}
	if err := g.CheckGrant("good.test", 0); err == nil {
		t.Error("no port is granted")
	}
}

// TestOnlyWhatAGrantWouldLetOutIsAskedFor looks at the answer to what is refused.
func TestOnlyWhatAGrantWouldLetOutIsAskedFor(t *testing.T) {
	for to, asked := range map[string]bool{"good.test:22": true, "127.0.0.1:22": false, "good.test.:22": false, "[::1]:22": false, "169.254.169.254:80": false} {
		g := newGrantRig(t)
		r, in, _ := g.sendRaw(connectTo(to))
		_ = in
		said, _ := io.ReadAll(r.Body)
		if r.StatusCode != 403 || strings.Contains(string(said), "the owner of the computer is asked") != asked {
			t.Errorf("%s: %s %q", to, r.Status, said)
		}
	}
	g := newGrantRig(t)
	g.SetPolicy(Policy{Mode: choir.EgressNone})
	if g.Askable(Refusal{Host: "good.test", Port: 22, Why: choir.EgressPolicy}) {
		t.Error("a closed computer asks")
	}
}

// TestAGrantStandsAboveTheProfileOfItsTaskOnly tries grants of each scope beside a profile that
// lets nothing out.
func TestAGrantStandsAboveTheProfileOfItsTaskOnly(t *testing.T) {
	always := Grant{ID: granted.ID, Host: granted.Host, Port: granted.Port}
	ofRun := always
	ofRun.Run = "run"
	none := &choir.EgressProfile{Mode: choir.EgressNone}
	for _, c := range []struct {
		grant   Grant
		profile *choir.EgressProfile
		want    int
	}{{granted, none, 200}, {ofRun, none, 200}, {always, none, 403}, {always, nil, 200}} {
		g := newGrantRig(t, c.grant)
		g.work.Profile = c.profile
		if r, _, _ := g.sendRaw(connectTo("good.test:22")); r.StatusCode != c.want {
			t.Errorf("%+v: %s", c, r.Status)
		}
	}
	g := newGrantRig(t, granted)
	g.work.Closed = true
	if r, _, _ := g.sendRaw(connectTo("good.test:22")); r.StatusCode != 403 {
		t.Errorf("the Director's sandbox: %s", r.Status)
	}
}

// TestTheEndOfAGrantCutsWhatIsOpen ends a grant in each way under an open tunnel. A tunnel of
// another grant goes on.
func TestTheEndOfAGrantCutsWhatIsOpen(t *testing.T) {
	for name, end := range map[string]func(g *rig){
		"revoked":       func(g *rig) { g.EndGrants(granted.ID) },
		"task returned": func(g *rig) { g.EndGrants("task") },
	} {
		t.Run(name, func(t *testing.T) {
			g := newGrantRig(t, granted, Grant{ID: "another", Host: "other.test", Port: 22, Run: "run", Task: "task two"})
			beside := g.opened("other.test:22")
			conn := g.opened("good.test:22")
			end(g)
			g.isCut(conn, "grant")
			if _, err := io.WriteString(beside, "y"); err != nil {
				t.Error(err)
			}
			// Who was told of the grant before its end comes too late.
			if r, _, _ := g.sendRaw(connectTo("good.test:22")); r.StatusCode != 403 {
				t.Errorf("after the end: %s", r.Status)
			}
		})
	}
	t.Run("run finished", func(t *testing.T) {
		ofRun := granted
		ofRun.Task = ""
		g := newGrantRig(t, ofRun)
		conn := g.opened("good.test:22")
		g.EndGrants("task") // of a task alone
		g.EndGrants("run")
		g.isCut(conn, "grant")
	})
	t.Run("expired", func(t *testing.T) {
		short := granted
		short.Expires = time.Now().Add(300 * time.Millisecond)
		g := newGrantRig(t, short)
		g.isCut(g.opened("good.test:22"), "grant")
	})
	t.Run("policy none", func(t *testing.T) {
		g := newGrantRig(t, granted)
		conn := g.opened("good.test:22")
		if cut := g.SetPolicy(policyOf(t)); cut != 0 {
			t.Errorf("another list cuts %d", cut)
		}
		if cut := g.SetPolicy(Policy{Mode: choir.EgressNone}); cut != 1 {
			t.Errorf("none cuts %d", cut)
		}
		g.isCut(conn, "policy")
	})
}

// TestAnotherPolicyCutsWhatDoesNotFit replaces the policy under two tunnels.
func TestAnotherPolicyCutsWhatDoesNotFit(t *testing.T) {
	goodHost, otherHost := choir.EgressHost{Host: "good.test", Port: 22}, choir.EgressHost{Host: "other.test", Port: 22}
	g := newRig(t, policyOf(t, goodHost, otherHost))
	g.serve(good, 22, echo(t))
	g.serve(other, 22, echo(t))
	stays, goes := g.opened("good.test:22"), g.opened("other.test:22")
	if cut := g.SetPolicy(policyOf(t, goodHost)); cut != 1 {
		t.Errorf("%d were cut", cut)
	}
	if _, err := goes.Read(make([]byte, 1)); err == nil {
		t.Error("what does not fit goes on")
	}
	if e := g.nextPassage(); e.Cut != "policy" || e.Host != "other.test" {
		t.Errorf("%+v", e)
	}
	if _, err := io.WriteString(stays, "z"); err != nil {
		t.Error(err)
	}
	if n, err := stays.Read(make([]byte, 1)); n != 1 || err != nil {
		t.Errorf("what fits was cut: %v", err)
	}
}

// TestGrantsBesideTricks sends every trick under a grant for the allowed host alone.
func TestGrantsBesideTricks(t *testing.T) {
	for _, c := range tricks() {
		g := newRig(t, policyOf(t))
		g.work.Grants = []Grant{{ID: "a", Host: "good.test", Port: 80}, {ID: "b", Host: "good.test", Port: 22}}
		for _, name := range []string{"victim.test", "evilgood.test", "good.test.victim.test", "good.test@victim.test"} {
			g.world.names[name] = []string{other}
		}
		g.serve(other, 80, echo(t))
		g.serve(other, 22, echo(t))
		r, _, _ := g.sendRaw(c.raw)
		if r.StatusCode == 200 || g.touched() {
			t.Errorf("%s: %s, dialled %v", c.name, r.Status, g.world.dialled)
		}
	}
}

// TestAHeldHostIsRefusedAboveAllGrants, and other hosts are not.
func TestAHeldHostIsRefusedAboveAllGrants(t *testing.T) {
	policy := policyOf(t, choir.EgressHost{Host: "good.test", Port: 22}, choir.EgressHost{Host: "other.test", Port: 22})
	work := Work{Run: "run", Task: "task", Grants: []Grant{granted}, Holds: func(host string) bool { return host == "good.test" }}
	_, err := decideByAll(policy, work, Target{Host: "good.test", Port: 22, Tunnel: true})
	var refusal *refusedError
	if !errors.As(err, &refusal) || refusal.Why != choir.EgressHeld || refusal.told.Reason != choir.ReasonEgressHeld {
		t.Errorf("a held host: %v", err)
	}
	if _, err := decideByAll(policy, work, Target{Host: "other.test", Port: 22, Tunnel: true}); err != nil {
		t.Errorf("another host: %v", err)
	}
	g := newGrantRig(t, granted)
	if g.Askable(Refusal{Host: "good.test", Port: 22, Why: choir.EgressHeld}) {
		t.Error("the owner is asked for a host that a rule of his holds")
	}
}

// TestARuleThatComesCutsTheTunnelsToItsHosts, and refuses what was decided about just before it.
func TestARuleThatComesCutsTheTunnelsToItsHosts(t *testing.T) {
	goodHost, otherHost := choir.EgressHost{Host: "good.test", Port: 22}, choir.EgressHost{Host: "other.test", Port: 22}
	g := newRig(t, policyOf(t, goodHost, otherHost))
	g.serve(good, 22, echo(t))
	g.serve(other, 22, echo(t))
	stays, goes := g.opened("good.test:22"), g.opened("other.test:22")
	if cut := g.CutHeld(func(host string) bool { return host == "other.test" }); cut != 1 {
		t.Errorf("%d were cut", cut)
	}
	if _, err := goes.Read(make([]byte, 1)); err == nil {
		t.Error("what the rule holds goes on")
	}
	if e := g.nextPassage(); e.Cut != "held" || e.Host != "other.test" {
		t.Errorf("%+v", e)
	}
	if _, err := io.WriteString(stays, "z"); err != nil {
		t.Error(err)
	}
	if n, err := stays.Read(make([]byte, 1)); n != 1 || err != nil {
		t.Errorf("what no rule holds was cut: %v", err)
	}
	asked := 0
	g.work.Holds = func(string) bool { asked++; return asked > 1 }
	if r, _, _ := g.sendRaw(connectTo("other.test:22")); r.StatusCode != 403 {
		t.Errorf("decided about before the rule: %s", r.Status)
	}
}
