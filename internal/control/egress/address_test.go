package egress

import (
	"net/netip"
	"testing"
)

func TestOnlyPublicAddressesAreDialled(t *testing.T) {
	for _, a := range []string{"1.1.1.1", "140.82.121.4", "9.255.255.255", "172.32.0.1", "2606:4700::1111", "2a00:1450:4001::1"} {
		if !Public(netip.MustParseAddr(a)) {
			t.Errorf("%s is refused", a)
		}
	}
	for _, a := range []string{
		"0.0.0.0", "0.1.2.3", "127.0.0.1", "127.255.0.9", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", // this machine and its network
		"169.254.169.254", "169.254.170.2", "100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254", "fd20:ce::254", "fd00:42::42", // clouds
		"100.64.0.1", "198.18.0.1", "192.0.2.1", "198.51.100.1", "203.0.113.1", "192.88.99.1", "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255",
		"::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fdff::1", "ff02::1", "fec0::1", "2001:db8::1", "100::1", "5f00::1", "3fff::1",
		"::ffff:127.0.0.1", "::ffff:8.8.8.8", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::808:808", "64:ff9b:1::a00:1", "2002:7f00:1::", "2002:a00:1::", "2001:0:7f00:1::", "1::1",
	} {
		if Public(netip.MustParseAddr(a)) {
			t.Errorf("%s is dialled", a)
		}
	}
	if Public(netip.Addr{}) {
		t.Error("no address is dialled")
	}
}
