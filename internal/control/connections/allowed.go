package connections

import (
	"net/netip"
	"slices"
)

// metadata are the addresses beside the link-local ones at which clouds give a
// machine's credentials and settings to whoever asks on it.
var metadata = []netip.Prefix{
	netip.MustParsePrefix("fd00:ec2::/32"),      // Amazon EC2 and EKS
	netip.MustParsePrefix("fd20:ce::254/128"),   // Google Cloud
	netip.MustParsePrefix("fd00:42::42/128"),    // Scaleway
	netip.MustParsePrefix("100.100.100.200/32"), // Alibaba Cloud
	netip.MustParsePrefix("168.63.129.16/32"),   // Azure
	netip.MustParsePrefix("192.0.0.192/32"),     // Oracle Cloud
}

// carriers are the IPv6 networks whose addresses stand for an IPv4 address, and at
// which byte they hold it (RFC 6052, 8215, 3056, 4291).
var carriers = []struct {
	network netip.Prefix
	at      int
}{
	{netip.MustParsePrefix("64:ff9b::/96"), 12},
	{netip.MustParsePrefix("64:ff9b:1::/48"), 12},
	{netip.MustParsePrefix("2002::/16"), 2},
	{netip.MustParsePrefix("::/96"), 12},
}

// Allowed reports whether a connection that was made on the page may lead to an
// address. Link-local ones and those of metadata are where clouds give a machine's
// credentials away, also inside of an IPv6 address; those of this machine and of its
// network are where people run models.
func Allowed(ip netip.Addr) bool {
	ip = ip.Unmap().WithZone("")
	for _, c := range carriers {
		if c.network.Contains(ip) && givesCredentials(carried(ip, c.at)) {
			return false
		}
	}
	return !givesCredentials(ip) && !ip.IsMulticast() && !ip.IsUnspecified() && ip != broadcast
}

func givesCredentials(ip netip.Addr) bool {
	return ip.IsLinkLocalUnicast() || slices.ContainsFunc(metadata, func(p netip.Prefix) bool { return p.Contains(ip) })
}

var broadcast = netip.AddrFrom4([4]byte{255, 255, 255, 255})

// carried is the IPv4 address that an IPv6 address holds at a byte.
func carried(ip netip.Addr, at int) netip.Addr {
	raw := ip.As16()
	return netip.AddrFrom4([4]byte(raw[at : at+4]))
}
