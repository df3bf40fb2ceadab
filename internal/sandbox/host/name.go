package host

import (
	"crypto/rand"
	"encoding/hex"

	"choiros/internal/sandbox"
)

// NewName returns a new name for a sandbox and its group, which contains the computer's id
// and the role.
func NewName(spec sandbox.Spec) string {
	var b [4]byte
	rand.Read(b[:]) // never fails
	return string(spec.Computer) + "-" + string(spec.Role) + "-" + hex.EncodeToString(b[:])
}
