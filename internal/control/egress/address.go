package egress

import (
	"net"
	"net/netip"
	"slices"
)

// closed are the networks that are not the public Internet, besides the ones of netip
// (IANA's registries of special-purpose addresses), and the addresses at which clouds give a
// machine's credentials to every process on it.
var closed = prefixes(
	"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24",
	"203.0.113.0/24", "240.0.0.0/4",
	"168.63.129.16/32", // Azure
	// IPv6: unspecified, mapped and compatible, NAT64, 6to4, Teredo, discard, ORCHID, documentation, SRv6, site-local.
	"::/96", "::ffff:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/23", "100::/64", "100:0:0:1::/64",
	"2001:db8::/32", "3fff::/20", "5f00::/16", "fec0::/10",
)

func prefixes(all ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(all))
	for i, p := range all {
		out[i] = netip.MustParsePrefix(p)
	}
	return out
}

// globalIPv6 is all that IANA has given out of IPv6 for the Internet.
var globalIPv6 = netip.MustParsePrefix("2000::/3")

// Public reports whether an address is on the public Internet: not of this machine, of a
// private, local or carrier's network, multicast, of a cloud's metadata service, nor an IPv6
// address with an IPv4 address inside.
func Public(a netip.Addr) bool {
	if !a.IsValid() || a.Zone() != "" || a.Is4In6() || a.Is6() && !globalIPv6.Contains(a) {
		return false
	}
	return a.IsGlobalUnicast() && !a.IsPrivate() && !slices.ContainsFunc(closed, func(p netip.Prefix) bool { return p.Contains(a) })
}

// isFar reports whether an address is public and neither this machine's nor one of the networks
// that it is in: a machine can have public addresses too, and always has with IPv6. It is false
// when the machine's addresses cannot be read.
func isFar(a netip.Addr) bool {
	if !Public(a) {
		return false
	}
	own, err := net.InterfaceAddrs()
	return err == nil && !isNear(a, own)
}

// isNear reports whether an address is in the network of one of a machine's own.
func isNear(a netip.Addr, own []net.Addr) bool {
	return slices.ContainsFunc(own, func(of net.Addr) bool {
		network, ok := of.(*net.IPNet)
		return ok && network.Contains(a.AsSlice())
	})
}
