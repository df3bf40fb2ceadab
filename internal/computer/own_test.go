package computer

import (
	"crypto/rand"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"choiros/internal/blob"
	"choiros/internal/blob/fs"
	"choiros/internal/choir"
)

// still is a computer that is open and not served: log and content.
func still(t testing.TB) *Computer {
	t.Helper()
	c, err := Open(t.Context(), Config{
		ID: newTestID(t), User: newTestID(t), Name: "still", Dir: filepath.Join(t.TempDir(), "c"), OpenBlobs: func(dir string) (blob.Store, error) { return fs.Open(dir) },
		Patience: Patience{Guest: time.Nanosecond}, Now: time.Now, Random: rand.Reader, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() }) // some tests have closed it
	return c
}

func TestTheLogOfAnotherComputerIsRefused(t *testing.T) {
	c := still(t)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	cfg := c.cfg
	cfg.ID = newTestID(t)
	if _, err := Open(t.Context(), cfg); choir.CodeOf(err) != choir.CodeConflict {
		t.Errorf("got %v", err)
	}
}
