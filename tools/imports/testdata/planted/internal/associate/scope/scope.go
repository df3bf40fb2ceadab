// Package scope is planted: it speaks to the bus.
package scope

import (
	_ "planted/internal/bus"
	_ "planted/internal/choir"
)
