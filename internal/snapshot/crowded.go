package snapshot

import (
	"context"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
)

// roomShare is the divisor of the entries limit: a crowded root folder contributes
// 1/roomShare of the limit in names.
const roomShare = 4

// maxBeyond is the limit on the reported names of a crowded root folder that a snapshot
// leaves out.
const maxBeyond = 100

// crowded selects the names of a root folder that has more names than a snapshot may
// hold. It keeps the names that the last scan knew, and fills up with new folders and new
// other names while each has room, so that the next scan selects the same. For a restore
// it keeps the names that the restore needs and the names that the last scan knew,
// because a restore must not remove a path that no snapshot holds. Other names stay on
// disk and are left out; the first maxBeyond of them are in beyond.
type crowded struct {
	known  *folder             // of the last scan
	needed map[string]struct{} // for a restore; else nil
	most   int64               // names that a snapshot may hold

	folders, others int64 // that there is room for
	names, beyond   []string
}

// choose reads the open root folder and sets names and beyond.
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
		return contextError(ctx)
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

// leaveBeyond reports the names in f.beyond as left out, with reason too_many, in the
// result of the scan.
func (s *scan) leaveBeyond(f *folder) {
	for _, name := range f.beyond {
		path := EscapePath([]byte(name))
		s.result.Left = append(s.result.Left, path)
		s.result.Over = append(s.result.Over, choir.LeftPath{Path: path, Reason: choir.LeftTooMany})
	}
}
