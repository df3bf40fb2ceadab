// Package reconcile is planted: it knows what runs.
package reconcile

import _ "planted/internal/sandbox"
