// Package treemerge is planted: it knows another part of its computer.
package treemerge

import _ "planted/internal/computer/runs"
