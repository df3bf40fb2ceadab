package computer

import (
	"flag"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// asVictim makes this test binary serve a computer until it is killed.
const asVictim = "CHOIR_TEST_SERVE_COMPUTER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(asVictim); dir != "" {
		os.Exit(serveAsVictim(dir))
	}
	// Each check of a property opens logs on a disk; more with -rapid.checks.
	flag.Parse()
	if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue {
		f.Value.Set("20")
	}
	goleak.VerifyTestMain(m)
}
