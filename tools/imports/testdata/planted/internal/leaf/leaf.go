// Package leaf is innocent.
package leaf

import _ "planted/internal/journal"
