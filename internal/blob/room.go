package blob

// Roomer is the optional power of a Store to check its free space.
type Roomer interface {
	// RoomFor returns code no_space if size more bytes do not fit beside the space that
	// the store reserves for others, else nil.
	RoomFor(size int64) error
}
