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
	"sync"

	"choiros/internal/choir"
	"choiros/internal/config"
	"choiros/internal/diskquota"
)

// The range from which disk project numbers are drawn, which is that of host users:
// people use small numbers, and container engines count up from 2^20.
const (
	firstDrawnProject = firstDrawnUID
	lastDrawnProject  = lastDrawnUID
)

// entriesPerKept is the maximum of files and folders in a workspace per entry permitted
// in its snapshots, since snapshots leave out caches.
const entriesPerKept = 2

// disks are the disk limits of the computers.
type disks struct {
	fs    *diskquota.FS // nil where no limit can be held
	why   error         // then
	limit diskquota.Limit
	// random is where project numbers are drawn from.
	random io.Reader

	mu sync.Mutex // guards of
	of map[choir.ID]*diskquota.Project
}

// newDisks returns the configured limits of the computers below a folder. If the file system
// cannot enforce one, choir runs without, and the doctor reports the reason: the owner may be
// unable to mount anything.
func newDisks(cfg *Config, folder string) *disks {
	d := &disks{limit: diskLimit(cfg.File.Storage), random: cfg.Random, of: map[choir.ID]*diskquota.Project{}}
	if d.fs, d.why = diskquota.Open(folder); d.why != nil && d.wanted() {
		cfg.Log.Warn("the disk of computers is not limited", "error", d.why)
	}
	return d
}

// diskLimit returns the configured limit of a workspace; zero, which means none, without
// storage.disk_gb.
func diskLimit(s config.Storage) diskquota.Limit {
	if s.DiskGB == 0 {
		return diskquota.Limit{}
	}
	return diskquota.Limit{Bytes: int64(s.DiskGB) << 30, Entries: entriesPerKept * int64(s.Entries)}
}

// limitAll applies the configured limit to every computer of a data folder, where one can be
// enforced.
func (d *disks) limitAll(f *folder) error {
	if d.fs == nil {
		return nil
	}
	drawn := false
	for i := range f.owner.Computers {
		given, err := d.giveProject(&f.owner.Computers[i], f.owner)
		if err != nil {
			return err
		}
		drawn = drawn || given
	}
	if drawn {
		if err := f.writeOwner(f.owner); err != nil {
			return err
		}
	}
	for _, e := range f.owner.Computers {
		if err := d.applyLimit(e); err != nil {
			return err
		}
	}
	return nil
}

// wanted reports whether a disk limit is configured.
func (d *disks) wanted() bool { return d.limit != diskquota.Limit{} }

// project returns the disk project of a computer; nil without a limit.
func (d *disks) project(id choir.ID) *diskquota.Project {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.of[id]
}

// giveProject draws a disk project number, which none of o has, for a computer that has none and
// is to be limited. It reports whether it did.
func (d *disks) giveProject(e *entry, o owner) (bool, error) {
	if e.DiskProject != 0 || d.fs == nil || !d.wanted() {
		return false, nil
	}
	named, err := namedProjects()
	if err != nil {
		return false, err
	}
	id, err := drawProject(d.random, func(id uint32) (bool, error) {
		if named[id] || o.hasProject(id) {
			return true, nil
		}
		use, err := d.fs.Use(id)
		return use.Bytes > 0 || use.Entries > 0, err
	})
	e.DiskProject = id
	return err == nil, err
}

// applyLimit sets the configured limit, or none, for a computer that has a project
// number.
func (d *disks) applyLimit(e entry) error {
	if e.DiskProject == 0 || d.fs == nil {
		return nil
	}
	p, err := diskquota.NewProject(d.fs, e.DiskProject, d.limit)
	if err == nil {
		d.mu.Lock()
		d.of[e.ID] = p
		d.mu.Unlock()
	}
	return err
}

// hasProject reports whether a computer has a project number.
func (o owner) hasProject(id uint32) bool {
	for _, e := range o.Computers {
		if e.DiskProject == id {
			return true
		}
	}
	return false
}

// drawProject draws a random number for which taken returns false. Code unavailable:
// maxDraws in a row are taken.
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
	return 0, choir.Refuse(op, choir.ReasonNoProjectNumber, choir.CountOf("n", maxDraws), choir.CountOf("from", firstDrawnProject), choir.CountOf("to", lastDrawnProject))
}

// namedProjects returns the project numbers that the host's administrator assigned; see
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

// readProjects adds the numbers in the given colon-separated field of each line to into.
// Lines without a number are skipped.
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
