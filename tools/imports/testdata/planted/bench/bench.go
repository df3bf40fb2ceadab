// Package bench is planted: it may wire, but not what is for tests.
package bench

import _ "planted/internal/sandbox/fake"
