package sprites

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strings"

	"choiros/internal/sandbox"
)

// namePrefix begins the names of all sprites of choir.
const namePrefix = "choir-"

// labelOf returns how the names of all sprites of a data folder begin. A name becomes a part
// of a host name, so it is short.
func labelOf(stateDir string) string {
	abs, err := filepath.Abs(stateDir)
	if err != nil {
		abs = stateDir // no working folder: the path is at least always the same
	}
	sum := sha256.Sum256([]byte(abs))
	return namePrefix + hex.EncodeToString(sum[:3]) + "-"
}

// newName returns a new name for a sprite, which contains the computer's id.
func newName(label string, spec sandbox.Spec) string {
	var b [3]byte
	rand.Read(b[:]) // never fails
	return label + strings.ReplaceAll(string(spec.Computer), "-", "") + "-" + hex.EncodeToString(b[:])
}
