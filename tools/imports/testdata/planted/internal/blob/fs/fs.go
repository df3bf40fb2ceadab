// Package fs is planted: it imports a sibling.
package fs

import _ "planted/internal/blob/s3"
