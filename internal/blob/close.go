package blob

import "io"

// Close closes a store that is an io.Closer and does nothing for other stores. Stored
// content can still be read.
func Close(s Store) error {
	if c, ok := s.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
