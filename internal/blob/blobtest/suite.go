// Package blobtest is the conformance suite of blob.Store.
package blobtest

import (
	"testing"

	"choiros/internal/blob"
)

// Run holds a store against the contract. Each call of open gives an empty one.
func Run(t *testing.T, open func(t *testing.T) blob.Store) { t.Helper() }
