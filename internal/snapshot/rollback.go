package snapshot

// Rollback says which changes to take back and which to leave.
type Rollback struct {
	Restore   []string // paths to restore to the base
	Kept      []string // paths left as the owner has them
	Conflicts []string // kept paths that the task wrote too, or that stood in the way of taking back
}

// Only is the filter for RestoreOptions that restores exactly r.Restore.
func (r *Rollback) Only() func(path string) bool { return nil }

// PlanRollback divides the changes since a base (Diff of base and now): what
// lies at or below a path of owner is kept, everything else goes back. Folders
// that an owner's path needs are kept with it. wrote says whether the task wrote
// an owner's path too, which makes it a conflict; nil means never.
func PlanRollback(changes []Change, owner []string, wrote func(path string) bool) Rollback {
	return Rollback{}
}
