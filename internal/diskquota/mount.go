package diskquota

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"choiros/internal/choir"
)

// mount is a mounted file system from mountinfo.
type mount struct {
	kind, source, point string
}

// mountOf returns the file system that holds a path, from the text of mountinfo. Of two on one
// mount point the later counts.
func mountOf(mountinfo, path string) mount {
	found, longest := mount{kind: "an unknown file system"}, -1
	for line := range strings.Lines(mountinfo) {
		before, after, ok := strings.Cut(line, " - ")
		at, rest := strings.Fields(before), strings.Fields(after)
		if !ok || len(at) < 5 || len(rest) < 2 {
			continue
		}
		point := unescape.Replace(at[4])
		if len(point) >= longest && (point == "/" || path == point || strings.HasPrefix(path, point+"/")) {
			longest = len(point)
			found = mount{kind: rest[0], source: unescape.Replace(rest[1]), point: point}
		}
	}
	return found
}

// unescape decodes mountinfo's escapes in names; see proc(5).
var unescape = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)

// existing returns path with links resolved, or the nearest existing folder above it, since a
// data folder may not be created yet.
func existing(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	for {
		real, err := filepath.EvalSymlinks(abs)
		if !errors.Is(err, fs.ErrNotExist) || abs == filepath.Dir(abs) {
			return real, err
		}
		abs = filepath.Dir(abs)
	}
}

// missing returns an error, with the remedy, that says why the file system cannot enforce
// project quotas, by the flags of its state; nil if it can.
func (m mount) missing(flags uint16) error {
	const op = "diskquota"
	again := "stop choir, unmount " + m.point + ", "
	mounted := "mount -o prjquota " + m.source + " " + m.point + ", and put prjquota into /etc/fstab (for the root file system: rootflags=prjquota on the kernel's command line)"
	switch {
	case flags&stateEnforced != 0:
		return nil
	case m.kind == "ext4" && flags&stateCounted == 0:
		return choir.Refuse(op, choir.ReasonQuotaNotMade, choir.TextOf("source", m.source), choir.TextOf("again", again), choir.TextOf("mounted", mounted))
	case m.kind == "ext4" || m.kind == "xfs":
		return choir.Refuse(op, choir.ReasonQuotaNotMounted, choir.TextOf("kind", m.kind), choir.TextOf("source", m.source), choir.TextOf("again", again), choir.TextOf("mounted", mounted))
	}
	return choir.Refuse(op, choir.ReasonQuotaOtherKind, choir.TextOf("kind", m.kind), choir.TextOf("path", m.point))
}

// readMounts returns the mountinfo of this process.
func readMounts() (string, error) {
	raw, err := os.ReadFile("/proc/self/mountinfo")
	return string(raw), err
}
