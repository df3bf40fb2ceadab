package host

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
)

// FindLimiter returns the strongest limiter that works here: cgroups version 2, version
// 1, or rlimits, which withoutCgroups takes in any case. The names of its groups begin with
// label, see GroupLabel.
func FindLimiter(withoutCgroups bool, label string) Limiter {
	if withoutCgroups {
		return noLimiter{}
	}
	all := hierarchies()
	if l := newV2(all, label); l != nil {
		return l
	}
	if l := newV1(all, label); l != nil {
		return l
	}
	return noLimiter{}
}

// GroupLabel returns the prefix of the names of all cgroups of one data folder.
func GroupLabel(stateDir string) string {
	abs, err := filepath.Abs(stateDir)
	if err != nil {
		abs = stateDir // no working folder: the path is at least always the same
	}
	sum := sha256.Sum256([]byte(abs))
	return "choir-" + hex.EncodeToString(sum[:6])
}
