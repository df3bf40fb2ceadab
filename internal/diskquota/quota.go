package diskquota

import (
	"errors"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
)

// FS is a file system that supports project quotas.
type FS struct{ dir string }

// Limit is the limit of a project; 0 is no limit.
type Limit struct {
	Bytes   int64
	Entries int64 // files, folders and links
}

// doubled returns twice the limit, for the time of a restore.
func (l Limit) doubled() Limit { return Limit{2 * l.Bytes, 2 * l.Entries} }

// Use is the usage of a project, with its limit.
type Use struct {
	Bytes, Entries int64
	Limit          Limit
}

// Open returns the file system of a folder, which may not exist yet. Code unavailable, with the
// remedy: it cannot enforce limits.
func Open(dir string) (*FS, error) {
	const op = "diskquota"
	if os.Geteuid() != 0 {
		return nil, choir.Refuse(op, choir.ReasonQuotaNotRoot)
	}
	dir, err := existing(dir)
	if err != nil {
		return nil, choir.Wrap(op, choir.CodeUnavailable, err, "look for the file system of the data folder")
	}
	mounts, err := readMounts()
	if err != nil {
		return nil, choir.Wrap(op, choir.CodeUnavailable, err, "read the mounted file systems")
	}
	m := mountOf(mounts, dir)
	flags, err := state(dir)
	if errors.Is(err, unix.ENOSYS) && (m.kind == "ext4" || m.kind == "xfs") {
		return nil, choir.Refuse(op, choir.ReasonQuotaKernel, choir.TextOf("kind", m.kind), choir.TextOf("source", m.source))
	}
	// Any other error is a file system that does not know them: no flag is set.
	if err := m.missing(flags); err != nil {
		return nil, err
	}
	return &FS{dir: dir}, nil
}

// Use returns usage and limit of a project.
func (f *FS) Use(project uint32) (Use, error) {
	var q dqblk
	err := quotactl(f.dir, getQuota, project, unsafe.Pointer(&q))
	if errors.Is(err, unix.ENOENT) {
		err = nil // XFS knows nothing of a project without files and limits
	}
	return Use{
		Bytes: int64(q.bytes), Entries: int64(q.files),
		Limit: Limit{Bytes: int64(q.blocksHard) * blockSize, Entries: int64(q.filesHard)},
	}, choir.Wrap("diskquota.use", choir.CodeUnavailable, err, "read the use of project %d", project)
}

// Limit sets the limit of a project. Existing files stay even if they exceed it.
func (f *FS) Limit(project uint32, l Limit) error {
	q := dqblk{blocksHard: uint64(l.Bytes) / blockSize, filesHard: uint64(l.Entries), valid: validLimits}
	return choir.Wrap("diskquota.limit", choir.CodeUnavailable, quotactl(f.dir, setQuota, project, unsafe.Pointer(&q)), "limit project %d", project)
}
