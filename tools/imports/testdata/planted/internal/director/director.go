// Package director is planted: it calls the Associate.
package director

import _ "planted/internal/associate"
