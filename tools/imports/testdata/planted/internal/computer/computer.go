// Package computer is planted: it wires.
package computer

import _ "planted/internal/blob/s3"
