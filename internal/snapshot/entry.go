package snapshot

import (
	"choiros/internal/choir"
)

// Kind is the kind of a path: folder, file, symbolic link or fifo.
type Kind byte

// The kinds. Sockets and devices are never part of a snapshot.
const (
	Dir     Kind = 'd'
	File    Kind = 'f'
	Symlink Kind = 'l'
	Fifo    Kind = 'p'
)

// String returns the kind's name as in choir.FileState; "unknown" for any other value.
func (k Kind) String() string {
	switch k {
	case Dir:
		return "dir"
	case File:
		return "file"
	case Symlink:
		return "symlink"
	case Fifo:
		return "fifo"
	}
	return "unknown"
}

// Limits that a manifest and a tree must keep. They bound what a hostile guest
// can make the control plane do.
const (
	MaxName          = 255       // bytes of one name, as in Linux
	MaxTarget        = 4095      // bytes of a link's target, as in Linux
	MaxPath          = 4096      // characters of an escaped path, as in events
	MaxDepth         = 1000      // folders below each other
	MaxFileBytes     = 1 << 44   // one file
	MaxManifestBytes = 64 << 20  // one folder's manifest, as encoded
	MaxEntries       = 1 << 23   // paths in one tree
	maxMode          = 1<<12 - 1 // permission bits
)

// Sum is the raw SHA-256 of an object.
type Sum = [32]byte

// Stamp is a modification time in Unix seconds and nanoseconds. Its range is that of the
// kernel, which is wider than UnixNano's.
type Stamp struct {
	Sec  int64
	Nsec uint32 // below 1e9
}

// UnixMilli returns the time in Unix milliseconds, rounded down.
func (s Stamp) UnixMilli() int64 { return s.Sec*1000 + int64(s.Nsec/1e6) }

// Entry is one path in a folder. The mode and time of a folder are in its own manifest,
// so they are zero in its parent's Manifest; Walk and Diff fill them in.
type Entry struct {
	Name   string // raw bytes
	Kind   Kind
	Mode   uint32 // 12 permission bits
	MTime  Stamp
	Size   int64  // bytes of a file's content
	Sum    Sum    // content of a file, manifest of a folder
	Target string // raw bytes of a link's target
}

// Digest returns the digest of a file's content or a folder's manifest; empty for other
// kinds.
func (e *Entry) Digest() choir.Digest {
	if e.Kind != File && e.Kind != Dir {
		return ""
	}
	return choir.DigestFrom(e.Sum)
}

// State returns the entry in the form of file events, at the escaped path.
func (e *Entry) State(path string) choir.FileState {
	s := choir.FileState{
		Path: path, Kind: e.Kind.String(), Mode: e.Mode, Size: e.Size,
		MTime: e.MTime.UnixMilli(), Target: EscapePath([]byte(e.Target)),
	}
	if e.Kind == File {
		s.Digest = e.Digest()
	}
	return s
}
