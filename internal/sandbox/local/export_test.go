package local

import "choiros/internal/sandbox"

// InitPID is the number of choir-init on the host.
func InitPID(b sandbox.Sandbox) int { return b.(*box).init.PID }

// HasLandlock tells tests whether the second wall stands.
var HasLandlock = hasLandlock
