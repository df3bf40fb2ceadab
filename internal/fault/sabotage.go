//go:build faultpoints

package fault

// sabotaged names the part of the contract that this binary leaves out, so that the
// crash matrix can be seen to notice. The linker sets it, so that sabotaged binaries
// are made of the same compiled packages as the sound one:
//
//	-ldflags "-X choiros/internal/fault.sabotaged=sync"
var sabotaged string

var (
	NoSync     = leavesOut("sync")  // the journal is not synced
	NoChain    = leavesOut("chain") // hashes and chain are not checked
	NoTaskKeys = leavesOut("keys")  // the log refuses no second event of a subject, and a task that comes again is executed again
)

// leavesOut reports whether sabotaged is name. It is not inlined, or the compiler could
// answer before the linker has set sabotaged.
//
//go:noinline
func leavesOut(name string) bool { return sabotaged == name }
