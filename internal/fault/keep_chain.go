//go:build !sabotage_chain

package fault

const sabotageChain = false
