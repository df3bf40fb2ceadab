// Package dispatch is planted: it takes tasks back by itself.
package dispatch

import (
	_ "planted/internal/snapshot"
	_ "planted/internal/wire"
)
