//go:build !lockorder

package lockorder

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestTheHeadOfTheStoreSaysTheOrder: the order is written once for people, and
// that is the one that is checked.
func TestTheHeadOfTheStoreSaysTheOrder(t *testing.T) {
	raw, err := os.ReadFile("../eventstore/store.go")
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(string(raw), "\npackage eventstore")
	var said []string
	for _, m := range regexp.MustCompile(`(?m)^//\t(\S+) `).FindAllStringSubmatch(head, -1) {
		said = append(said, m[1])
	}
	if !slices.Equal(said, Names()) {
		t.Errorf("store.go says %v, the check has %v", said, Names())
	}
}

// TestTheLogKeepsItsLockOrder runs tests of the log that repair, append, read and
// close at once in a build that panics where locks are acquired against the order.
func TestTheLogKeepsItsLockOrder(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("go", "test", "-tags", "lockorder", "-count", "1", "-short", "-vet=off", "-run", strings.Join([]string{
		"TestAnAcquisitionAgainstTheOrderPanics", "TestAnotherGoroutineHasItsOwnOrder", // the check itself
		"TestMaintenance", "TestARepair", "TestARemade", "TestOneFault", "TestAReader", "TestTheBarrier",
	}, "|"), "./lockorder", "./recovery", "./eventstore", "./journal")
	cmd.Dir = ".."
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-trimpath") // as choir is built, so that what it needs is compiled already
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if got := strings.Count(string(out), "ok  "); got < 3 {
		t.Errorf("only %d packages ran tests:\n%s", got, out)
	}
}
