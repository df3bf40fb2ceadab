package sprites_test

import (
	"context"
	"os"
	"testing"

	"choiros/internal/sandbox"
	"choiros/internal/sandbox/sandboxtest"
	"choiros/internal/sandbox/sprites"
)

// liveVariable is the environment variable with an access token of Fly Sprites.
const liveVariable = "CHOIR_SPRITES_TOKEN"

// TestAtFly runs a part of the suite in sprites of Fly's own, which costs some cents.
func TestAtFly(t *testing.T) {
	live := os.Getenv(liveVariable)
	if live == "" {
		t.Skip("no sprite of Fly's own was made: " + liveVariable + " has no access token of Fly Sprites")
	}
	atFly := func(_ testing.TB, s sandboxtest.Setup) sandbox.Driver {
		return sprites.New(sprites.Config{
			StateDir: s.StateDir, Orphan: s.Orphan * slower, Token: func(context.Context) (string, error) { return live, nil },
		})
	}
	lacks := map[sandboxtest.Demand]string{sandboxtest.HostKernel: "the kernel is Fly's, and tells nothing of this machine"}
	sandboxtest.RunSome(t, atFly, lacks, "it tells nothing of Fly that the others do not",
		"contract/commands end with their exit codes", "contract/commands have three streams", "contract/a terminal is both input and output",
		"contract/a workspace is carried to the next sandbox", "contract/a second driver takes a sandbox up", "contract/usage is of what lives",
		"profile", "director", "calls", "init", "lifecycle/destroy leaves nothing", "lifecycle/the end of PID 1 is the end")
}
