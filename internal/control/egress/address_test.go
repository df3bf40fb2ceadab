package egress

import (
	"net"
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

// TestThisMachinesPublicAddressesAreNotDialled, and those of its neighbours: what listens there
// counts on being asked by machines, not by what is in a sandbox of one.
func TestThisMachinesPublicAddressesAreNotDialled(t *testing.T) {
	var own []net.Addr
	for _, text := range []string{"127.0.0.1/8", "11.22.44.1/24", "2a01:4f8:1:2::1/64", "fe80::1/64"} {
		ip, network, err := net.ParseCIDR(text)
		if err != nil {
			t.Fatal(err)
		}
		own = append(own, &net.IPNet{IP: ip, Mask: network.Mask})
	}
	for text, near := range map[string]bool{
		"11.22.44.1": true, "11.22.44.200": true, "11.22.45.1": false, "2a01:4f8:1:2::1": true, "2a01:4f8:1:2:3:4:5:6": true, "2a01:4f8:1:3::1": false, "1.1.1.1": false,
	} {
		a := netip.MustParseAddr(text)
		if !Public(a) || isNear(a, own) != near {
			t.Errorf("%s: near is %v", text, !near)
		}
	}
	machine, err := net.InterfaceAddrs()
	if err != nil || len(machine) == 0 {
		t.Fatal(machine, err)
	}
	for _, of := range machine {
		if a, ok := netip.AddrFromSlice(of.(*net.IPNet).IP); ok && Internet().Permit(a.Unmap()) {
			t.Errorf("%s is dialled", of)
		}
	}
}
