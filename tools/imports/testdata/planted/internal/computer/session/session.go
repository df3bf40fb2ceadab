// Package session is planted: it knows the tree.
package session

import _ "planted/internal/snapshot"
