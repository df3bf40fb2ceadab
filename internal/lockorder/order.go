// Package lockorder names the locks of a log in the one order in which a
// goroutine may acquire them. In an ordinary build its mutex is sync.Mutex and
// nothing is recorded. With the build tag lockorder each goroutine's locks are
// recorded, and an acquisition against the order panics.
package lockorder

// Names are the locks, outermost first. The head of eventstore/store.go says
// what each guards; a test holds the two lists against each other.
func Names() []string {
	return []string{
		"Barrier.files", "Barrier.appends", "pool.slots", "Journal.writeMu", "applier.retryMu", "applier.connMu",
		"Journal.mu", "applier.mu", "recent.mu", "tail.mu", "Store.waitMu", "pool.mu", "check.mu",
	}
}

// Lock is one of the types below: a lock's place in Names.
type Lock interface{ place() int }

// The locks.
type (
	Files      struct{}
	Appends    struct{}
	PoolSlots  struct{}
	WriteMu    struct{}
	RetryMu    struct{}
	ConnMu     struct{}
	JournalMu  struct{}
	ApplierMu  struct{}
	RecentMu   struct{}
	TailMu     struct{}
	WaitMu     struct{}
	PoolMu     struct{}
	ProgressMu struct{}
)

func (Files) place() int      { return 0 }
func (Appends) place() int    { return 1 }
func (PoolSlots) place() int  { return 2 }
func (WriteMu) place() int    { return 3 }
func (RetryMu) place() int    { return 4 }
func (ConnMu) place() int     { return 5 }
func (JournalMu) place() int  { return 6 }
func (ApplierMu) place() int  { return 7 }
func (RecentMu) place() int   { return 8 }
func (TailMu) place() int     { return 9 }
func (WaitMu) place() int     { return 10 }
func (PoolMu) place() int     { return 11 }
func (ProgressMu) place() int { return 12 }
