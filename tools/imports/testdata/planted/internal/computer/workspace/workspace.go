// Package workspace is planted: it knows what runs and another part of its computer.
// The guest, through another package, it may know.
package workspace

import (
	_ "planted/internal/computer/desk/drafts"
	_ "planted/internal/sandbox"
	_ "planted/internal/wire"
)
