package supervisor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
	"choiros/internal/config"
	"choiros/internal/diskquota"
	"choiros/internal/sandbox"
)

// diskCheck returns the doctor's check of the disk limit of workspaces: whether one can
// be enforced, else the reason and the free space.
func diskCheck(data string, wanted config.Storage) sandbox.Check {
	limit := diskLimit(wanted)
	data = existingFolder(data)
	_, err := diskquota.Open(data)
	if err == nil && wanted.DiskGB > 0 {
		return sandbox.Check{Name: "disk", OK: true}.AddDetail(choir.TellSentence("told.disk", "each computer's workspace may take {gib} GiB and have {entries} files and folders",
			choir.CountOf("gib", limit.Bytes>>30), choir.CountOf("entries", limit.Entries)))
	}
	var why, remedy choir.Told
	var missing *choir.Error
	switch {
	case err == nil:
		why = choir.TellSentence("told.diskOff", "storage.disk_gb is 0")
		remedy = choir.TellSentence("told.setDisk", "set storage.disk_gb in choir.toml")
	case errors.As(err, &missing):
		why, remedy = choir.TellError(missing)
	default:
		why.Text = err.Error()
	}
	if err != nil && wanted.DiskGB == 0 && remedy.Text != "" {
		remedy = choir.TellAround("told.ownFileSystem", "give the data folder a file system of its own; or set storage.disk_gb, and {more}", map[string]choir.Told{"more": remedy})
	}
	return sandbox.Check{Name: "disk"}.AddRemedy(remedy).
		AddDetail(choir.TellAround("told.noDisk", "not limited, because {why}; {free}", map[string]choir.Told{"why": why, "free": freeSpace(data)}))
}

// existingFolder returns the nearest folder at or above dir that exists: before its first start
// choir has no data folder, and the file system that will have it is that of the folder above.
func existingFolder(dir string) string {
	for {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

// freeSpace describes the free space of the data folder's file system.
func freeSpace(data string) choir.Told {
	var st unix.Statfs_t
	if err := unix.Statfs(data, &st); err != nil {
		return choir.TellSentence("told.freeUnknown", "the free space cannot be read: {why}", choir.LinesOf("why", err))
	}
	return choir.TellSentence("told.diskFree", "{free} MiB are free, of which copies of workspaces leave some for choir itself", choir.CountOf("free", int64(st.Bavail)*st.Bsize>>20))
}

// checks returns the check of the disk usage of each computer in a data folder; none without a
// limit.
func (d *disks) checks(all []entry, f *folder) []sandbox.Check {
	if !d.wanted() || d.fs == nil {
		return nil // diskCheck has said so
	}
	var out []sandbox.Check
	for _, e := range all {
		if p := d.project(e.ID); p != nil {
			out = append(out, checkDiskUse(e, p, filepath.Join(f.finished(e.ID), string(choir.RoleAssociate), "workspace")))
		}
	}
	return out
}

// checkDiskUse returns the check of a computer's disk usage against its limit.
func checkDiskUse(e entry, p *diskquota.Project, workspace string) sandbox.Check {
	c := sandbox.Check{Name: "disk of " + e.Name}
	held, err := p.Holds(workspace)
	var use diskquota.Use
	if err == nil && held {
		use, err = p.Use()
	}
	switch {
	case err != nil:
		c.Detail = "cannot be read: " + err.Error()
	case !held:
		c.Detail = "not limited, because its workspace was filled before storage.disk_gb was set or its file system could hold a limit"
		c.Remedy = "export this computer and import it again: choir export, choir import"
	default:
		c.OK = true
		c.Detail = fmt.Sprintf("%d of %d MiB and %d of %d files and folders are used", use.Bytes>>20, use.Limit.Bytes>>20, use.Entries, use.Limit.Entries)
	}
	return c
}
