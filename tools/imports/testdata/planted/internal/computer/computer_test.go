package computer

import (
	"os"
	"testing"

	_ "planted/internal/blob/fs"
)

func TestMayDoAll(t *testing.T) { t.Log(os.Getenv("HOME")) }
