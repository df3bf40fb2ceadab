// Package drafts is planted: it tells the bus.
package drafts

import _ "planted/internal/bus"
