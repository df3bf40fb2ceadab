package fault

// What is left out of a build with one of these tags, so that the crash matrix
// can be seen to notice: constants, so that an ordinary build has no trace.
const (
	NoSync     = sabotageSync  // sabotage_sync: the journal is not synced
	NoChain    = sabotageChain // sabotage_chain: hashes and chain are not checked
	NoTaskKeys = sabotageKeys  // sabotage_keys: the log refuses no second event of a subject, and a task that comes again is executed again
)
