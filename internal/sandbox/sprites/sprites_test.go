package sprites_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"choiros/internal/sandbox"
	"choiros/internal/sandbox/sandboxtest"
	"choiros/internal/sandbox/sprites"
	"choiros/internal/sandbox/sprites/spritestest"
)

// serverVariable has the address of the tests' server, also for the processes that the
// suite starts and kills.
const serverVariable = "CHOIR_SPRITESTEST_URL"

// server is the server of this process; nil in a process that the suite started.
var server *spritestest.Server

func TestMain(m *testing.M) {
	sandboxtest.SetPatience(3 * time.Minute) // to pack and upload takes long on a busy machine
	if os.Getenv(serverVariable) == "" && spritestest.Missing() == "" {
		server = spritestest.New()
		os.Setenv(serverVariable, server.URL)
	}
	code := m.Run()
	if server != nil {
		if left := server.Sprites(); len(left) > 0 && code == 0 {
			fmt.Fprintln(os.Stderr, "left behind are the sprites", left)
			code = 1
		}
		server.Close()
	}
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

func token(context.Context) (string, error) { return spritestest.Token, nil }

// slower is how many times as long a stream takes as on other rungs: each is a program that
// is started in the sprite.
const slower = 10

// newDriver makes a driver of the suite.
func newDriver(t testing.TB, s sandboxtest.Setup) sandbox.Driver {
	if why := spritestest.Missing(); why != "" {
		t.Skip("there is no server with sprites: ", why)
	}
	return sprites.New(sprites.Config{StateDir: s.StateDir, Orphan: s.Orphan * slower, URL: os.Getenv(serverVariable), Token: token})
}

// TestSprites runs the suite in sprites of the tests' server.
func TestSprites(t *testing.T) {
	if testing.Short() && os.Getenv("CHOIR_SANDBOXTEST_CHILD") == "" {
		sandboxtest.RunSome(t, newDriver, nil, "it takes long where time is short; go test without -short runs it",
			"profile", "director", "calls", "init", "doors", "inherited", "contract/a second driver takes a sandbox up",
			"contract/a workspace is carried to the next sandbox", "survival/recovered after the control plane was killed")
		return
	}
	sandboxtest.RunWithout(t, newDriver, map[sandboxtest.Demand]string{
		sandboxtest.OneHost: "a process of this machine cannot end a sprite; a sprite that nobody dials ends by itself",
	}).Check(t, sandboxtest.OneHost)
}
