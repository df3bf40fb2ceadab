package main

import (
	"io"
	"os"

	"choiros/internal/choir"
)

// readInput returns the content of a file, or of standard input for "-". Code too_large: more than
// max bytes.
func (a *app) readInput(path string, max int64) ([]byte, error) {
	r := a.in
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, choir.Refuse("", choir.ReasonFileUnreadable, choir.TextOf("path", path), choir.TextOf("why", err))
		}
		defer f.Close()
		r = f
	}
	raw, err := io.ReadAll(io.LimitReader(r, max+1))
	if err == nil && int64(len(raw)) > max {
		err = choir.Refuse("", choir.ReasonInputTooLarge, choir.TextOf("path", path), choir.CountOf("most", max))
	}
	return raw, err
}
