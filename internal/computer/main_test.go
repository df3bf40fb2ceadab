package computer

import (
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
	goleak.VerifyTestMain(m)
}
