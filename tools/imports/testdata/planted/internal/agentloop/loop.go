// Package agentloop is planted: it knows the blob store.
package agentloop

import (
	_ "planted/internal/blob"
	_ "planted/internal/model"
)
