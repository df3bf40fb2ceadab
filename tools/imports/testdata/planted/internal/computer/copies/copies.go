// Package copies is planted: it knows what runs.
package copies

import _ "planted/internal/sandbox"
