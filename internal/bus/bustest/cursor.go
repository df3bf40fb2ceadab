package bustest

import (
	"context"
	"os"
	"strconv"
)

// Cursor is the path of a file that implements bus.Cursor.
type Cursor string

// Load implements bus.Cursor. It returns 0 if the file is missing or incomplete.
func (c Cursor) Load(context.Context) (uint64, error) {
	raw, err := os.ReadFile(string(c))
	if err != nil {
		return 0, nil
	}
	seq, _ := strconv.ParseUint(string(raw), 10, 64)
	return seq, nil
}

// Save implements bus.Cursor.
func (c Cursor) Save(_ context.Context, seq uint64) error {
	return os.WriteFile(string(c), []byte(strconv.FormatUint(seq, 10)), 0o600)
}
