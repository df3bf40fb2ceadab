// Package sandboxtest is test support, which is no test.
package sandboxtest

import _ "planted/internal/blob/mem"
