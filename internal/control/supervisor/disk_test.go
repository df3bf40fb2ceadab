package supervisor

import (
	"strings"
	"testing"

	"choiros/internal/config"
)

func TestTheDoctorSaysThatTheDiskIsNotLimited(t *testing.T) {
	t.Parallel()
	dir, s := t.TempDir(), config.Default().Storage
	if c := diskCheck(dir, s); c.OK || !strings.HasPrefix(c.Detail, "not limited, because ") || !strings.Contains(c.Detail, "MiB are free") || c.Remedy == "" {
		t.Errorf("%+v", c)
	}
	if c := diskCheck("/nowhere/at/all", s); c.OK || !strings.Contains(c.Detail, "cannot be read") {
		t.Errorf("%+v", c)
	}
	s.DiskGB = 10
	if l := diskLimit(s); l.Bytes != 10<<30 || l.Entries != 2*int64(s.Entries) {
		t.Errorf("%+v", l)
	}
	if c := diskCheck(dir, s); !c.OK && (!strings.HasPrefix(c.Detail, "not limited, because ") || c.Remedy == "" || strings.Contains(c.Remedy, "set storage.disk_gb")) {
		t.Errorf("%+v", c)
	}
}
