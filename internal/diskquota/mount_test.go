package diskquota

import (
	"os"
	"strings"
	"testing"

	"choiros/internal/choir"
)

const mountLines = `22 1 8:1 / / rw - ext4 /dev/sda1 rw
30 22 8:2 / /srv rw shared:1 - xfs /dev/sdb rw,attr2,prjquota
31 30 8:3 / /srv/data rw - ext4 /dev/sdc rw
32 22 8:4 / /over rw - ext4 /dev/sdd rw
33 32 0:9 / /over rw - tmpfs tmpfs rw
34 22 8:5 / /with\040space rw - btrfs /dev/disk/by-label/a\040b rw
- half a line
`

func TestMountOf(t *testing.T) {
	for path, want := range map[string]mount{
		"/srv/x":        {"xfs", "/dev/sdb", "/srv"},
		"/srvx":         {"ext4", "/dev/sda1", "/"},
		"/srv/data/y":   {"ext4", "/dev/sdc", "/srv/data"},
		"/home":         {"ext4", "/dev/sda1", "/"},
		"/over/x":       {"tmpfs", "tmpfs", "/over"},
		"/with space/x": {"btrfs", "/dev/disk/by-label/a b", "/with space"},
	} {
		if got := mountOf(mountLines, path); got != want {
			t.Errorf("%s lies on %+v", path, got)
		}
	}
	if got := mountOf("", "/x"); got.kind == "" {
		t.Errorf("%+v", got)
	}
}

func TestMissingNamesTheConditionAndTheCommand(t *testing.T) {
	for _, c := range []struct {
		m           mount
		flags       uint16
		msg, remedy string
	}{
		{mount{"ext4", "/dev/a", "/m"}, 0, "made without project quotas", "unmount /m, tune2fs -O project,quota /dev/a, mount -o prjquota /dev/a /m"},
		{mount{"ext4", "/dev/a", "/m"}, stateCounted, "mounted without project quotas", "unmount /m, mount -o prjquota /dev/a /m"},
		{mount{"xfs", "/dev/a", "/m"}, 0, "mounted without project quotas", "unmount /m, mount -o prjquota /dev/a /m"},
		{mount{"btrfs", "/dev/a", "/m"}, 0, "btrfs on /m has no project quotas", "mkfs.ext4 -O project,quota"},
	} {
		e, ok := c.m.missing(c.flags).(*choir.Error)
		if !ok || e.Code != choir.CodeUnavailable || !strings.Contains(e.Msg, c.msg) || !strings.Contains(e.Remedy, c.remedy) {
			t.Errorf("%+v: %+v", c, e)
		}
	}
	if err := (mount{"ext4", "/dev/a", "/m"}).missing(stateCounted | stateEnforced); err != nil {
		t.Error(err)
	}
}

// TestOpenHere asks the file system of this machine, whatever it can hold.
func TestOpenHere(t *testing.T) {
	fs, err := Open(t.TempDir())
	if err == nil {
		if use, err := fs.Use(2_147_000_000); err != nil || use != (Use{}) {
			t.Errorf("%+v, %v", use, err)
		}
		return
	}
	e, ok := err.(*choir.Error)
	if !ok || e.Code != choir.CodeUnavailable || e.Remedy == "" || os.Geteuid() != 0 && !strings.Contains(e.Remedy, "root") {
		t.Errorf("%v", err)
	}
}

// TestWithoutAProject widens nothing.
func TestWithoutAProject(t *testing.T) {
	var p *Project
	narrow, err := p.Widen()
	if err != nil || narrow() != nil {
		t.Error(err)
	}
}
