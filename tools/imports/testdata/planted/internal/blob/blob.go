// Package blob is planted: a contract that imports its implementation.
package blob

import _ "planted/internal/blob/fs"
