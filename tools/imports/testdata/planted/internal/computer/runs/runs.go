// Package runs is planted: it looks at the workspace.
package runs

import _ "planted/internal/snapshot"
