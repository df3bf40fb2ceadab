package guest

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

const sessionArg = "-run-session"

// sessionHelper is this test binary in the place of choir-init.
func sessionHelper() []string { return []string{"/proc/self/exe", sessionArg} }

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == playArg {
		os.Exit(play(os.Args[2:]))
	}
	if len(os.Args) > 3 && os.Args[1] == sessionArg {
		code, err := RunSession(os.Args[2], os.Args[3:], os.Environ())
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
		os.Exit(code)
	}
	goleak.VerifyTestMain(m)
}
