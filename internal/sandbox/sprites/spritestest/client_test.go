package spritestest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"choiros/internal/sandbox/sprites/spritestest"
	"choiros/internal/scripttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// clientCases is how many cases tools/sprites/check.mjs has.
const clientCases = 20

// TestFlysOwnClientIsServed runs Fly's official npm client, at the version of
// tools/sprites, against a server: what the driver is tested with answers as that client
// expects.
func TestFlysOwnClientIsServed(t *testing.T) {
	if why := spritestest.Missing(); why != "" {
		t.Skip("there is no server with sprites: ", why)
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed: ", err)
	}
	folder, err := filepath.Abs("../../../../tools/sprites")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(folder, "node_modules", "@fly", "sprites")); err != nil {
		t.Skip("the packages of tools/sprites are not installed (make tools/sprites/node_modules): ", err)
	}
	server := spritestest.New()
	defer server.Close()
	cmd := exec.CommandContext(t.Context(), node, "check.mjs", server.URL, spritestest.Token)
	cmd.Dir, cmd.Env = folder, append(os.Environ(), "NODE_OPTIONS=")
	ran := scripttest.Run(t, cmd)
	if ran != clientCases {
		t.Errorf("%d cases ran, and not %d", ran, clientCases)
	}
	if left := server.Sprites(); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
