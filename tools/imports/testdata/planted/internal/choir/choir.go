// Package choir is planted: it does I/O.
package choir

import (
	"os"
	"time"
)

// Now is planted: it reads the clock.
func Now() time.Time { return time.Now() }

// Home is planted: it reads the environment.
func Home() string { return os.Getenv("HOME") }
