// Package keyfile is planted: it knows the vocabulary.
package keyfile

import _ "planted/internal/choir"
