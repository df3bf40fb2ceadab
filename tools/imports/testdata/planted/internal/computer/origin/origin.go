// Package origin is planted: it asks a sandbox.
package origin

import _ "planted/internal/guest"
