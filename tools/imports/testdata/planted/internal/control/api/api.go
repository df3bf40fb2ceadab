// Package api is planted: it reads content past the parts that it is given.
package api

import (
	_ "planted/internal/blob"
	_ "planted/internal/computer"
)
