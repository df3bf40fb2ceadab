// Package moments is planted: it knows what runs.
package moments

import _ "planted/internal/sandbox"
