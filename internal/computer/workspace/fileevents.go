package workspace

import (
	"choiros/internal/choir"
	"choiros/internal/snapshot"
)

// Bounds of the lists in one event: bytes, well below the inline limit, and
// paths, as the event types say.
const (
	eventRoom  = 48 << 10
	eventPaths = 4096
)

// FileEvents converts changes to events small enough to be stored inline. It leaves out
// files in .git folders; the snapshot has them.
func FileEvents(changes []snapshot.Change, root choir.Digest) []choir.Payload {
	l := fileLists{root: root}
	for i := range changes {
		ch := &changes[i]
		if ch.Path == "" || ch.TimeOnly() {
			continue
		}
		if ch.From != "" && !InGit(ch.From) {
			l.remove(ch.From)
		}
		switch {
		case InGit(ch.Path):
		case ch.After == nil:
			l.remove(ch.Path)
		default:
			l.write(ch.After.State(ch.Path))
		}
	}
	l.flushWritten()
	l.flushRemoved()
	return l.out
}

// Removals returns file.removed events for paths, split by the size limit of an event.
// in is the snapshot they name.
func Removals(paths []string, in choir.Digest) []choir.Payload {
	changes := make([]snapshot.Change, len(paths))
	for i, path := range paths {
		changes[i] = snapshot.Change{Path: path, Kind: choir.ChangeDeleted}
	}
	return FileEvents(changes, in)
}

// fileLists collects paths into events of limited size.
type fileLists struct {
	root                     choir.Digest
	out                      []choir.Payload
	written                  []choir.FileState
	removed                  []string
	writtenRoom, removedRoom int // bytes used
}

func (l *fileLists) write(s choir.FileState) {
	size := 2*(len(s.Path)+len(s.Target)) + 200 // quotes and backslashes count twice
	if l.writtenRoom+size > eventRoom || len(l.written) == eventPaths {
		l.flushWritten()
	}
	l.written, l.writtenRoom = append(l.written, s), l.writtenRoom+size
}

func (l *fileLists) remove(path string) {
	size := 2*len(path) + 4
	if l.removedRoom+size > eventRoom || len(l.removed) == eventPaths {
		l.flushRemoved()
	}
	l.removed, l.removedRoom = append(l.removed, path), l.removedRoom+size
}

func (l *fileLists) flushWritten() {
	if len(l.written) > 0 {
		l.out = append(l.out, choir.FileWritten{Files: l.written, Snapshot: l.root})
	}
	l.written, l.writtenRoom = nil, 0
}

func (l *fileLists) flushRemoved() {
	if len(l.removed) > 0 {
		l.out = append(l.out, choir.FileRemoved{Paths: l.removed, Snapshot: l.root})
	}
	l.removed, l.removedRoom = nil, 0
}
