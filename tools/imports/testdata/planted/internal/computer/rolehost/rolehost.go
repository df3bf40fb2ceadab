// Package rolehost is planted: it starts the bus, and knows the computer through
// another package.
package rolehost

import (
	_ "planted/internal/bus/hub"
	_ "planted/internal/timeline"
)
