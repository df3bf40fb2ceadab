// Package verification is planted: it asks the bus.
package verification

import _ "planted/internal/bus"
