package blob

// Roomer is a Store that knows how much it may still take.
type Roomer interface {
	// RoomFor reports whether so many bytes more fit, beside what the store leaves
	// free for others; code no_space when they do not.
	RoomFor(size int64) error
}
