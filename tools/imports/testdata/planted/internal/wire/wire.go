// Package wire leads to the guest and the bus.
package wire

import (
	_ "planted/internal/bus"
	_ "planted/internal/guest"
)
