package hub_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(crashChild); dir != "" {
		fmt.Fprintln(os.Stderr, beKilled(dir, os.Getenv(crashChild+"_EVENTS")))
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}
