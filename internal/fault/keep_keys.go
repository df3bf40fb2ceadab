//go:build !sabotage_keys

package fault

const sabotageKeys = false
