// Package verbs is planted: it knows a part of its computer.
package verbs

import _ "planted/internal/computer/runs"
