package snapshot

import (
	"slices"
	"strings"

	"choiros/internal/choir"
)

// Rollback is the plan of a rollback: the paths to restore and the paths to keep.
type Rollback struct {
	Restore   []string // paths to restore to the base
	Kept      []string // paths left as the owner has them
	Conflicts []string // kept paths that the task wrote too, or whose folder it had put in the place of something else
}

// Only returns a filter for RestoreOptions that selects exactly the paths in r.Restore.
func (r *Rollback) Only() func(path string) bool {
	set := make(map[string]struct{}, len(r.Restore))
	for _, p := range r.Restore {
		set[p] = struct{}{}
	}
	return func(path string) bool {
		_, ok := set[path]
		return ok
	}
}

// PlanRollback divides the changes since a base (the Diff of base and now). Changes at or
// below a path of owner (escaped) are kept, with the folders they need; all others are
// restored. If wrote is not nil it reports whether the task wrote a kept path too, which
// makes the path a conflict.
func PlanRollback(changes []Change, owner []string, wrote func(path string) bool) Rollback {
	var r Rollback
	needed := map[string]bool{} // folders above what is kept and exists now
	all := Apart(changes)
	for i := range all {
		if c := &all[i]; ownedBy(owner, c.Path) && c.After != nil {
			needAncestors(needed, c.Path)
		}
	}
	for i := range all {
		c := &all[i]
		switch {
		case ownedBy(owner, c.Path):
			r.Kept = append(r.Kept, c.Path)
			if wrote != nil && wrote(c.Path) {
				r.Conflicts = append(r.Conflicts, c.Path)
			}
		case needed[c.Path] && c.standsOnFolder():
			r.Kept = append(r.Kept, c.Path)
			if c.Before != nil {
				r.Conflicts = append(r.Conflicts, c.Path)
			}
		default:
			r.Restore = append(r.Restore, c.Path)
		}
	}
	slices.Sort(r.Conflicts)
	return r
}

// standsOnFolder reports whether a revert of the change would remove a folder that exists
// now.
func (c *Change) standsOnFolder() bool {
	return c.After != nil && c.After.Kind == Dir && (c.Before == nil || c.Before.Kind != Dir)
}

// Apart splits each rename into a deletion and an addition and returns all changes sorted
// by path.
func Apart(changes []Change) []Change {
	var all []Change
	for _, c := range changes {
		if c.Kind != choir.ChangeRenamed {
			all = append(all, c)
			continue
		}
		all = append(all,
			Change{Path: c.From, Kind: choir.ChangeDeleted, Before: c.Before},
			Change{Path: c.Path, Kind: choir.ChangeAdded, After: c.After})
	}
	slices.SortFunc(all, func(x, y Change) int { return strings.Compare(x.Path, y.Path) })
	return all
}

func ownedBy(owner []string, path string) bool {
	for _, o := range owner {
		if path == o || strings.HasPrefix(path, o) && path[len(o)] == '/' {
			return true
		}
	}
	return false
}

func needAncestors(needed map[string]bool, path string) {
	for {
		i := strings.LastIndexByte(path, '/')
		if i < 0 {
			return
		}
		path = path[:i]
		needed[path] = true
	}
}
