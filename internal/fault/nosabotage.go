//go:build !faultpoints

package fault

// Nothing of the contract is left out: constants, so that an ordinary build has no trace.
const (
	NoSync     = false
	NoChain    = false
	NoTaskKeys = false
)
