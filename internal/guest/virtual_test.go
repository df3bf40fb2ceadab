package guest

import (
	"fmt"
	"net/netip"
	"testing"

	"choiros/internal/choir"
)

// TestAnAddressStandsForOneName also after the range of addresses was gone through, while some
// names are asked for again and again.
func TestAnAddressStandsForOneName(t *testing.T) {
	v := newVirtual(nil)
	kept := v.touch(virtualKey{name: "kept.test"}).addr
	v.next = choir.VirtualLast
	seen := map[netip.Addr]string{}
	for i := range maxNames {
		v.touch(virtualKey{name: "kept.test"})
		name := fmt.Sprintf("n%d.test", i)
		seen[v.touch(virtualKey{name: name}).addr] = name
	}
	if name, ok := seen[kept]; ok {
		t.Errorf("%s stands for kept.test and for %s", kept, name)
	}
	if len(seen) != maxNames || len(v.hosts) != maxNames {
		t.Errorf("%d addresses for %d names, %d kept", len(seen), maxNames, len(v.hosts))
	}
}
