package guest

import (
	"syscall"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
)

func signalName(s syscall.Signal) string {
	if name := unix.SignalName(s); name != "" {
		return name
	}
	return "SIG" + s.String()
}

// parseSignal returns the signal with a name such as SIGINT. An unknown name is code
// invalid.
func parseSignal(name string) (syscall.Signal, error) {
	if s := unix.SignalNum(name); s != 0 {
		return s, nil
	}
	return 0, choir.Invalid("signal", "%q is not a signal; names are like SIGINT", clip(name, 20))
}
