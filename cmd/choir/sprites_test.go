package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"choiros/internal/sandbox/sprites/spritestest"
)

// TestAComputerMovesToSpritesAndBack works on one computer under local, in sprites of a
// server of the tests, where choir is killed once, and under local again. No sprite is left,
// and a token that is refused is said with what to do.
func TestAComputerMovesToSpritesAndBack(t *testing.T) {
	if why := spritestest.Missing(); why != "" {
		t.Skip("there is no server with sprites: ", why)
	}
	server := spritestest.New()
	t.Cleanup(server.Close)
	m := newMachine(t, "")
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte(spritestest.Token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	inSprites := fmt.Sprintf("[runtime]\nmode = 'sprites'\n[sprites]\ntoken_file = %q\nurl = %q\n", token, server.URL)
	movesThereAndBack(t, m, inSprites, "sprites")
	if left := server.Sprites(); len(left) > 0 || server.Made() == 0 {
		t.Errorf("of %d sprites %v are left", server.Made(), left)
	}
	m.configure(inSprites)
	if out := m.must("doctor"); !strings.Contains(out, "takes the token") || strings.Contains(out, spritestest.Token) {
		t.Errorf("doctor says %s", out)
	}
	if err := os.WriteFile(token, []byte("wrong\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := m.run("doctor"); !strings.Contains(r.out, "Fly refuses the token") || !strings.Contains(r.out, "sprites.dev/account") {
		t.Errorf("doctor says %s%s", r.out, r.errOut)
	}
}
