package supervisor

import (
	"os"
	"path/filepath"
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
	if c := diskCheck(filepath.Join(dir, "not", "made", "yet"), s); c.OK || !strings.Contains(c.Detail, "MiB are free") {
		t.Errorf("before the first start: %+v", c)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if c := diskCheck(filepath.Join(file, "below"), s); c.OK || !strings.Contains(c.Detail, "cannot be read") {
		t.Errorf("below a file: %+v", c)
	}
	s.DiskGB = 10
	if l := diskLimit(s); l.Bytes != 10<<30 || l.Entries != 2*int64(s.Entries) {
		t.Errorf("%+v", l)
	}
	if c := diskCheck(dir, s); !c.OK && (!strings.HasPrefix(c.Detail, "not limited, because ") || c.Remedy == "" || strings.Contains(c.Remedy, "set storage.disk_gb")) {
		t.Errorf("%+v", c)
	}
}
