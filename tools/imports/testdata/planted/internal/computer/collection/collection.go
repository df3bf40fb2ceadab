// Package collection is planted: it knows what runs.
package collection

import _ "planted/internal/sandbox"
