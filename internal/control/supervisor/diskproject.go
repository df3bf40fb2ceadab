package supervisor

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/config"
	"choiros/internal/diskquota"
)

// Projects of computers are drawn from the numbers that their host users are drawn
// from: small ones are given by people, and container engines count up from 2^20.
const (
	firstDrawnProject = firstDrawnUID
	lastDrawnProject  = lastDrawnUID
)

// entriesPerKept is how many files and folders a workspace may have for each that
// its snapshots hold at most: caches are in none.
const entriesPerKept = 2

// disks are the limits of the computers' disks.
type disks struct {
	fs    *diskquota.FS // nil where no limit can be held
	why   error         // then
	limit diskquota.Limit
	of    map[choir.ID]*diskquota.Project
}

// diskLimit is what the configuration wants; without storage.disk_gb none.
func diskLimit(s config.Storage) diskquota.Limit {
	if s.DiskGB == 0 {
		return diskquota.Limit{}
	}
	return diskquota.Limit{Bytes: int64(s.DiskGB) << 30, Entries: entriesPerKept * int64(s.Entries)}
}

// limitDisks gives every computer the limit that the configuration wants, where
// the file system can hold it. Where it cannot, choir runs without, and the doctor
// says why: the owner may not be able to mount anything.
func (s *System) limitDisks() error {
	s.disks = disks{limit: diskLimit(s.cfg.File.Storage), of: map[choir.ID]*diskquota.Project{}}
	if s.disks.fs, s.disks.why = diskquota.Open(s.folder.computers()); s.disks.why != nil {
		if s.disks.wanted() {
			s.cfg.Log.Warn("the disk of computers is not limited", "error", s.disks.why)
		}
		return nil
	}
	drawn := false
	for i := range s.folder.owner.Computers {
		given, err := s.giveProject(&s.folder.owner.Computers[i])
		if err != nil {
			return err
		}
		drawn = drawn || given
	}
	if drawn {
		if err := s.folder.writeOwner(s.folder.owner); err != nil {
			return err
		}
	}
	for _, e := range s.folder.owner.Computers {
		if err := s.disks.hold(e); err != nil {
			return err
		}
	}
	return nil
}

func (d *disks) wanted() bool { return d.limit != diskquota.Limit{} }

// giveProject draws the number of a computer that has none and is to be limited. It
// reports whether it did.
func (s *System) giveProject(e *entry) (bool, error) {
	if e.DiskProject != 0 || s.disks.fs == nil || !s.disks.wanted() {
		return false, nil
	}
	named, err := namedProjects()
	if err != nil {
		return false, err
	}
	id, err := drawProject(s.cfg.Random, func(id uint32) (bool, error) {
		if named[id] || s.folder.owner.hasProject(id) {
			return true, nil
		}
		use, err := s.disks.fs.Use(id)
		return use.Bytes > 0 || use.Entries > 0, err
	})
	e.DiskProject = id
	return err == nil, err
}

// hold sets the limit of a computer that has a project, also when there is to be no
// limit any longer.
func (d *disks) hold(e entry) error {
	if e.DiskProject == 0 || d.fs == nil {
		return nil
	}
	p, err := diskquota.NewProject(d.fs, e.DiskProject, d.limit)
	if err == nil {
		d.of[e.ID] = p
	}
	return err
}

// hasProject reports whether a number is one of the computers'.
func (o owner) hasProject(id uint32) bool {
	for _, e := range o.Computers {
		if e.DiskProject == id {
			return true
		}
	}
	return false
}

// drawProject draws a number that is not taken: by a computer, by a name on this
// host, or by files that somebody left. Code unavailable when none is found.
func drawProject(random io.Reader, taken func(id uint32) (bool, error)) (uint32, error) {
	const op = "choir.diskproject"
	for range maxDraws {
		var b [4]byte
		if _, err := io.ReadFull(random, b[:]); err != nil {
			return 0, choir.Wrap(op, choir.CodeInternal, err, "draw the number of a project")
		}
		id := firstDrawnProject + binary.LittleEndian.Uint32(b[:])%(lastDrawnProject-firstDrawnProject+1)
		if is, err := taken(id); err != nil || !is {
			return id, err
		}
	}
	return 0, choir.E(op, choir.CodeUnavailable, "all of %d project numbers drawn between %d and %d are taken on this file system", maxDraws, firstDrawnProject, lastDrawnProject).
		WithRemedy("free a part of that range in /etc/projid and /etc/projects")
}

// namedProjects are the numbers that the host's administrator gave out; see
// projid(5) and projects(5).
func namedProjects() (map[uint32]bool, error) {
	out := map[uint32]bool{}
	for path, field := range map[string]int{"/etc/projid": 1, "/etc/projects": 0} {
		f, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, choir.Wrap("choir.diskproject", choir.CodeUnavailable, err, "read which project numbers this host gives out")
		}
		readProjects(f, field, out)
		f.Close()
	}
	return out, nil
}

// readProjects adds the numbers in one field of each line. Lines without one give
// nothing out.
func readProjects(r io.Reader, field int, into map[uint32]bool) {
	for lines := bufio.NewScanner(r); lines.Scan(); {
		fields := strings.Split(strings.TrimSpace(lines.Text()), ":")
		if field >= len(fields) {
			continue
		}
		if id, err := strconv.ParseUint(fields[field], 10, 32); err == nil {
			into[uint32(id)] = true
		}
	}
}
