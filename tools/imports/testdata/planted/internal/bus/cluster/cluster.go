// Package cluster is planted: it knows the blob store.
package cluster

import _ "planted/internal/blob"
