// Package desk is planted: it knows what runs, the guest through another package.
package desk

import (
	_ "planted/internal/sandbox"
	_ "planted/internal/snapshot"
	_ "planted/internal/wire"
)
