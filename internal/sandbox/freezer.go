package sandbox

import "context"

// Freezer is implemented by drivers that can write a running sandbox to files, with its
// processes and its memory, and run it again from them.
type Freezer interface {
	// Freeze writes a sandbox of this driver to a new folder and ends it, so that nothing is
	// left of it but the folder. Its open connections end. If it fails the sandbox runs on and
	// there is no folder, unless the sandbox has ended and the rest of it cannot be removed: then
	// the folder is whole, and Destroy tries the removal again. A sandbox that has ended is code
	// not_found, one of another driver or kind code invalid. Who has the folder has what was in the
	// sandbox's memory.
	Freeze(ctx context.Context, b Sandbox, folder string) error
	// Thaw returns the sandbox of a folder, running where it was stopped, with spec's doors,
	// user and limits. The folder stays as it is, and can be used again. A folder of another
	// computer, role or image is code conflict; a folder that cannot be run is code unavailable.
	// If it fails nothing is left of the attempt.
	Thaw(ctx context.Context, spec Spec, folder string) (Sandbox, error)
}
