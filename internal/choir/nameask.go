package choir

import (
	"net/netip"
	"strings"
)

// NamesPath is the path at the egress door at which init asks whether a host name may be
// reached; the name follows. The answer is 200 with a NameAnswer, 403 for a name that is
// refused, or another status while nobody can tell.
const NamesPath = "/choir/v1/names/"

// NameAnswer says at which ports a host may be reached.
type NameAnswer struct {
	Ports []int `json:"ports"`
}

// markDomain is the domain below which programs of a task look names up first: a search
// domain in their environment, which carries their CallMark to the resolver in init.
const markDomain = ".mark.choir.internal"

// SearchDomain returns the domain that says for which mark a name below it is looked up.
func (m CallMark) SearchDomain() string {
	return strings.ReplaceAll(m.Addr().String(), ".", "-") + markDomain
}

// CutSearchDomain splits a name that is being looked up into the name that a program wants
// and the mark's address of its search domain; at is not valid for a name without one.
func CutSearchDomain(name string) (wanted string, at netip.Addr) {
	below, ok := strings.CutSuffix(name, markDomain)
	if !ok {
		return name, netip.Addr{}
	}
	i := strings.LastIndexByte(below, '.')
	if i < 0 {
		return name, netip.Addr{}
	}
	addr, err := netip.ParseAddr(strings.ReplaceAll(below[i+1:], "-", "."))
	if _, marked := MarkAt(addr); err != nil || !marked {
		return name, netip.Addr{}
	}
	return below[:i], addr
}

// VirtualFirst and VirtualLast bound the loopback addresses that stand for hosts outside. No
// CallMark has one of them.
var (
	VirtualFirst = netip.AddrFrom4([4]byte{127, 0, 16, 1})
	VirtualLast  = netip.AddrFrom4([4]byte{127, 0, 255, 254})
)
