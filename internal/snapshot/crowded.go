package snapshot

import (
	"context"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
)

// roomShare is the part of the names that a snapshot may hold to which a crowded root
// folder is filled up.
const roomShare = 4

// maxBeyond is how many of the names are given that a crowded root folder has beyond
// those that are held.
const maxBeyond = 100

// crowded chooses the names of the root folder that a snapshot holds when it has more
// than a snapshot may hold: those that the last scan knew, and folders and others as
// far as each has room, so that the next scan chooses the same. A restore has those that it needs and those that the last
// scan knew, because it may remove nothing that no snapshot holds. The rest stays
// where it is, and the first of it are returned as beyond.
type crowded struct {
	known  *folder             // of the last scan
	needed map[string]struct{} // for a restore; else nil
	most   int64               // names that a snapshot may hold

	folders, others int64 // that there is room for
	names, beyond   []string
}

// choose reads an open folder.
func (c *crowded) choose(ctx context.Context, fd int) error {
	room := c.most / roomShare
	for i := range c.known.nodes {
		if c.known.nodes[i].Kind != 0 {
			room--
		}
	}
	c.folders, c.others = room, room
	return eachName(fd, func(name string, kind uint8) error {
		switch {
		case c.wants(name, kind):
			c.names = append(c.names, name)
		case len(c.beyond) < maxBeyond:
			c.beyond = append(c.beyond, name)
		}
		return ended(ctx)
	})
}

func (c *crowded) wants(name string, kind uint8) bool {
	if _, ok := c.needed[name]; ok {
		return true
	}
	if n := c.known.find(name); n != nil && n.Kind != 0 {
		return true
	}
	room := &c.others
	if kind == unix.DT_DIR {
		room = &c.folders
	}
	if c.needed != nil || *room <= 0 {
		return false
	}
	*room--
	return true
}

// leaveBeyond says of the names that a crowded root folder has beyond those that are
// held that they are left out.
func (s *scan) leaveBeyond(f *folder) {
	for _, name := range f.beyond {
		path := EscapePath([]byte(name))
		s.result.Left = append(s.result.Left, path)
		s.result.Over = append(s.result.Over, choir.LeftPath{Path: path, Reason: choir.LeftTooMany})
	}
}
