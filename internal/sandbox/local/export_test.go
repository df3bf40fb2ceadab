package local

import (
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/host"
)

// InitPID is the number of choir-init on the host.
func InitPID(b sandbox.Sandbox) int { return b.(*box).Main.PID }

// HasLandlock tells tests whether the second wall stands.
var HasLandlock = host.HasLandlock
