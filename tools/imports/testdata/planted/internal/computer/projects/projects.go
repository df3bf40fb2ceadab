// Package projects is planted: it knows what runs.
package projects

import _ "planted/internal/sandbox"
