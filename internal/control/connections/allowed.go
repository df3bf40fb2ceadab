package connections

import (
	"net/netip"
	"slices"
)

// metadata are the addresses, besides link-local ones, at which clouds give a machine's
// credentials and settings to every process on it.
var metadata = []netip.Prefix{
	netip.MustParsePrefix("fd00:ec2::/32"),      // Amazon EC2 and EKS
	netip.MustParsePrefix("fd20:ce::254/128"),   // Google Cloud
	netip.MustParsePrefix("fd00:42::42/128"),    // Scaleway
	netip.MustParsePrefix("100.100.100.200/32"), // Alibaba Cloud
	netip.MustParsePrefix("168.63.129.16/32"),   // Azure
	netip.MustParsePrefix("192.0.0.192/32"),     // Oracle Cloud
}

// carriers are the IPv6 networks whose addresses contain an IPv4 address, with the byte
// at which it begins (RFC 6052, 8215, 3056, 4291).
var carriers = []struct {
	network netip.Prefix
	at      int
}{
	{netip.MustParsePrefix("64:ff9b::/96"), 12},
	{netip.MustParsePrefix("64:ff9b:1::/48"), 12},
	{netip.MustParsePrefix("2002::/16"), 2},
	{netip.MustParsePrefix("::/96"), 12},
}

// Allowed reports whether the owner may connect a model service at an address on the
// shell's page. It refuses link-local and metadata addresses, where clouds give out
// credentials, also inside an IPv6 address, and multicast, unspecified and broadcast
// ones. It allows this machine and its network, where people run models.
func Allowed(ip netip.Addr) bool {
	ip = ip.Unmap().WithZone("")
	for _, c := range carriers {
		if c.network.Contains(ip) && givesCredentials(carried(ip, c.at)) {
			return false
		}
	}
	return !givesCredentials(ip) && !ip.IsMulticast() && !ip.IsUnspecified() && ip != broadcast
}

// givesCredentials reports whether an address is link-local or one of metadata.
func givesCredentials(ip netip.Addr) bool {
	return ip.IsLinkLocalUnicast() || slices.ContainsFunc(metadata, func(p netip.Prefix) bool { return p.Contains(ip) })
}

var broadcast = netip.AddrFrom4([4]byte{255, 255, 255, 255})

// carried returns the IPv4 address that an IPv6 address contains at a byte.
func carried(ip netip.Addr, at int) netip.Addr {
	raw := ip.As16()
	return netip.AddrFrom4([4]byte(raw[at : at+4]))
}
