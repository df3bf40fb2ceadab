// Package timeline is planted: it knows the room that uses it.
package timeline

import (
	_ "planted/internal/blob"
	_ "planted/internal/computer"
)
