package sandbox

import "context"

// Pauser is implemented by sandboxes whose processes can be stopped where they are, and go on
// later.
type Pauser interface {
	// Pause stops every process of the sandbox and returns once they stand still. Nothing answers
	// on the control door until Resume; open streams stay. If the control plane ends, the sandbox
	// goes on by itself. Code unavailable: this machine cannot do that, and the sandbox runs on; or
	// the pause failed half way. Then call Resume: a sandbox that does not answer after it is lost.
	Pause(ctx context.Context) error
	// Resume lets a paused sandbox go on, and does nothing to another. Destroy and Driver.Recover do
	// it too.
	Resume(ctx context.Context) error
}
