package egress

import (
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
