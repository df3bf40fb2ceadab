// Package snapshot is a part of the planted module.
package snapshot
