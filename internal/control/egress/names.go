package egress

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"choiros/internal/choir"
)

// ServeName answers at choir.NamesPath which ports of a host a program in the sandbox may reach,
// by the policy, the profile of its task and its grants. It looks nothing up. A refused name is
// recorded, and asked for, as a tunnel to its first port of the policy is, or to 443.
func (p *Proxy) ServeName(w http.ResponseWriter, r *http.Request) {
	if p.refusesUnread(w, r, p.cfg.Answer) {
		return
	}
	work, err := p.cfg.Work(r)
	if err == nil {
		var ports []int
		if ports, err = p.nameOf(strings.TrimPrefix(r.URL.Path, choir.NamesPath), work); err == nil {
			w.Header().Set("Content-Type", "application/json")
			// The asker may be gone.
			_ = json.NewEncoder(w).Encode(choir.NameAnswer{Ports: ports})
			return
		}
		err = p.refused(r, work, err)
	}
	p.cfg.Answer(w, err)
}

// nameOf returns the ports at which a host may be reached, or a refusal.
func (p *Proxy) nameOf(host string, work Work) ([]int, error) {
	policy := p.Policy()
	t := Target{Host: strings.ToValidUTF8(host, "?"), Port: tlsPort, Tunnel: true}
	if work.Closed || policy.Mode == choir.EgressNone {
		return nil, refuse(t, choir.EgressPolicy, choir.EgressNone, choir.ReasonEgressNone)
	}
	if canonical, ok := canonicalHost(host); !ok || canonical != host || isAddress(host) {
		t.Port = 0
		return nil, refuse(t, choir.EgressUnclear, policy.Mode, choir.ReasonEgressUnclear)
	}
	if !p.pace.Allow() {
		return nil, refuse(t, choir.EgressLimit, policy.Mode, choir.ReasonEgressBusy)
	}
	var open []int
	var refused error
	for _, port := range policy.With(work.Grants).ports(host) {
		t.Port = port
		_, err := decideByAll(policy, work, t)
		switch {
		case err == nil, p.inspects(t, err):
			open = append(open, port)
		case refused == nil:
			refused = err
		}
	}
	if len(open) == 0 && refused == nil { // nobody has said a word about the host
		t.Port = tlsPort
		_, refused = decideByAll(policy, work, t)
	}
	if len(open) == 0 {
		return nil, refused
	}
	return open, nil
}

// ports returns the ports at which rules have a host, in order.
func (p Policy) ports(host string) (ports []int) {
	for _, r := range p.rules {
		if r.hasHost(host) {
			ports = append(ports, r.Port)
		}
	}
	slices.Sort(ports)
	return slices.Compact(ports)
}
