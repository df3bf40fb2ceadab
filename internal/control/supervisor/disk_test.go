package supervisor

import (
	"strings"
	"testing"
)

func TestTheDoctorSaysThatTheDiskIsNotLimited(t *testing.T) {
	t.Parallel()
	if c := diskCheck(t.TempDir()); c.OK || !strings.HasPrefix(c.Detail, "not limited, because ") || !strings.Contains(c.Detail, "MiB are free") {
		t.Errorf("%+v", c)
	}
	if c := diskCheck("/nowhere/at/all"); c.OK || !strings.Contains(c.Detail, "cannot be read") {
		t.Errorf("%+v", c)
	}
	const mounts = "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n" +
		"30 22 8:2 / /srv rw shared:1 - xfs /dev/sdb rw,attr2,prjquota\n" +
		"31 30 8:3 / /srv/data rw - ext4 /dev/sdc rw\n"
	for path, want := range map[string]struct {
		kind  string
		quota bool
	}{"/srv/x": {"xfs", true}, "/srvx": {"ext4", false}, "/srv/data/y": {"ext4", false}, "/home": {"ext4", false}} {
		if kind, quota := fileSystemOf(mounts, path); kind != want.kind || quota != want.quota {
			t.Errorf("%s lies on %s, %v", path, kind, quota)
		}
	}
}
