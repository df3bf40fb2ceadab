package hub

import (
	"encoding/json"
	"errors"
	"os"

	"choiros/internal/choir"
)

// cursor is the relay's file: how far it got, for the case that the stream is
// gone and cannot say. It may lag behind.
type cursor struct {
	Version int    `json:"version" choir:"range=1..1"`
	Seq     uint64 `json:"seq" choir:"range=0..9007199254740991"`
}

// loadCursor reads the file; no file, and one that cannot be understood, is the
// beginning, which costs time and loses nothing.
func loadCursor(path string) (uint64, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, choir.Wrap("bus.relay", choir.CodeUnavailable, err, "read the cursor %s", path)
	}
	var c cursor
	if choir.DecodeStrict(raw, &c) != nil {
		return 0, nil
	}
	return c.Seq, nil
}

func saveCursor(path string, seq uint64) error {
	raw, err := json.Marshal(cursor{Version: 1, Seq: seq})
	if err == nil {
		err = writeFile(path, raw)
	}
	return choir.Wrap("bus.relay", choir.CodeUnavailable, err, "write the cursor %s", path)
}
