//go:build sabotage_sync

package fault

const sabotageSync = true
