// Package tasks is planted: it knows another part of its computer.
package tasks

import _ "planted/internal/computer/runs"
