// Package guestblobs is planted: it knows what runs.
package guestblobs

import _ "planted/internal/guest"
