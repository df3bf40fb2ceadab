package bustest

import (
	"context"
	"os"
	"strconv"
)

// Cursor is a hub.Cursor in the file of that path.
type Cursor string

// Load satisfies hub.Cursor; no file, and one that a crash cut off, is the beginning.
func (c Cursor) Load(context.Context) (uint64, error) {
	raw, err := os.ReadFile(string(c))
	if err != nil {
		return 0, nil
	}
	seq, _ := strconv.ParseUint(string(raw), 10, 64)
	return seq, nil
}

// Save satisfies hub.Cursor.
func (c Cursor) Save(_ context.Context, seq uint64) error {
	return os.WriteFile(string(c), []byte(strconv.FormatUint(seq, 10)), 0o600)
}
