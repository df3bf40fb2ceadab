// Package selfsource is planted: it knows what runs.
package selfsource

import (
	_ "planted/internal/computer/treemerge"
	_ "planted/internal/sandbox"
)
