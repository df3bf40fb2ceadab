package egress

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"choiros/internal/choir"
)

// askName asks as init does, and returns the status and the ports.
func (g *rig) askName(name string) (int, []int) {
	g.t.Helper()
	r, err := http.NewRequest(http.MethodGet, "http://door"+choir.NamesPath+name, nil)
	if err != nil {
		g.t.Fatal(err)
	}
	w := httptest.NewRecorder()
	g.ServeName(w, r)
	var answer choir.NameAnswer
	if w.Code == 200 {
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
			g.t.Fatal(err)
		}
	}
	return w.Code, answer.Ports
}

// TestANameIsThereWhenThePolicyLetsItOut asks for names under policies, profiles and grants.
func TestANameIsThereWhenThePolicyLetsItOut(t *testing.T) {
	list := []choir.EgressHost{{Host: "good.test"}, {Host: "good.test", Port: 22}, {Host: "*.wild.test"}, {Host: "read.test", Port: 80, Methods: []string{"GET"}}, {Host: "198.18.0.9"}}
	g := newRig(t, policyOf(t, list...))
	for _, c := range []struct {
		name  string
		work  Work
		ports []int
		why   choir.EgressWhy
		port  int
	}{
		{"good.test", Work{}, []int{22, 443}, "", 0},
		{"a.wild.test", Work{}, []int{443}, "", 0},
		{"wild.test", Work{}, nil, choir.EgressPolicy, 443},
		{"other.test", Work{}, nil, choir.EgressPolicy, 443},
		{"other.test", Work{Grants: []Grant{{ID: "g", Host: "other.test", Port: 8443}}}, []int{8443}, "", 0},
		{"good.test", Work{Grants: []Grant{{ID: "g", Host: "good.test", Port: 80}}}, []int{22, 80, 443}, "", 0},
		{"read.test", Work{}, []int{80}, "", 0}, // its requests are looked into one by one
		{"good.test", Work{Profile: &choir.EgressProfile{Mode: choir.EgressAllowlist, Allowlist: []choir.EgressHost{{Host: "good.test", Port: 22}}}}, []int{22}, "", 0},
		{"good.test", Work{Profile: &choir.EgressProfile{Mode: choir.EgressNone}}, nil, choir.EgressTask, 22},
		{"good.test", Work{Closed: true}, nil, choir.EgressPolicy, 443},
		{"198.18.0.9", Work{}, nil, choir.EgressUnclear, 0},
		{"GOOD.test", Work{}, nil, choir.EgressUnclear, 0},
		{"good.test.", Work{}, nil, choir.EgressUnclear, 0},
		{"xn--0.test", Work{}, nil, choir.EgressUnclear, 0},
		{"localhost", Work{}, nil, choir.EgressPolicy, 443},
	} {
		g.mu.Lock()
		g.work, g.refused = c.work, nil
		g.mu.Unlock()
		code, ports := g.askName(c.name)
		got := g.lastRefusal()
		if !slices.Equal(ports, c.ports) || got.Why != c.why || got.Port != c.port || c.ports == nil && code != 403 {
			t.Errorf("%s under %+v: %d %v, recorded %+v", c.name, c.work, code, ports, got)
		}
	}
	if len(g.world.lookups) > 0 || g.touched() {
		t.Errorf("looked up %v", g.world.lookups)
	}
}
