// Package rewind is planted: it knows what runs.
package rewind

import _ "planted/internal/sandbox"
