package blob

import "io"

// Close ends writing to a store that is an io.Closer; other stores have nothing
// to end. What was kept can still be read.
func Close(s Store) error {
	if c, ok := s.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
