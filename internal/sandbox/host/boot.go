package host

import (
	"os"
	"strings"
)

// BootID returns an id of the current boot of the machine; empty if it is unknown.
func BootID() string {
	raw, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "" // then start times alone must do
	}
	return strings.TrimSpace(string(raw))
}

// ProcessName names a process across restarts of the control plane, together with BootID.
type ProcessName struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"`
}
