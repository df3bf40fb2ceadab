package supervisor_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/computer/workspace"
	"choiros/internal/control/controltest"
	"choiros/internal/control/supervisor"
	"choiros/internal/diskquota"
	"choiros/internal/diskquota/quotatest"
	"choiros/internal/sandbox"
)

// projects reads the numbers of the computers' projects, by name.
func projects(t *testing.T, data string) map[string]uint32 {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(data, "owner.json"))
	var o struct {
		Computers []struct {
			Name    string `json:"name"`
			Project uint32 `json:"disk_project"`
		} `json:"computers"`
	}
	if err = errors.Join(err, json.Unmarshal(raw, &o)); err != nil {
		t.Fatal(err)
	}
	out := map[string]uint32{}
	for _, c := range o.Computers {
		out[c.Name] = c.Project
	}
	return out
}

// checkOf finds a check of the doctor.
func checkOf(t *testing.T, s *supervisor.System, name string) sandbox.Check {
	t.Helper()
	for _, c := range s.Doctor(t.Context()).Checks {
		if c.Name == name {
			return c
		}
	}
	return sandbox.Check{Detail: "there is no such check"}
}

// TestDiskLimitsOfComputers limits computers that are new or forked, each by itself,
// and leaves alone what was filled before.
func TestDiskLimitsOfComputers(t *testing.T) {
	data := filepath.Join(quotatest.Mount(t, "ext4"), "data")
	limited := controltest.Config(t, data)
	limited.File.Storage.DiskGB = 1
	t.Run("without a limit", func(t *testing.T) {
		p := controltest.StartWith(t, controltest.Config(t, data))
		p.Healthy()
		if got := projects(t, data); got["My computer"] != 0 {
			t.Errorf("%v", got)
		}
		if c := checkOf(t, p.System, "disk"); c.OK || !strings.Contains(c.Detail, "storage.disk_gb is 0") {
			t.Errorf("%+v", c)
		}
	})
	var got map[string]uint32
	t.Run("with a limit", func(t *testing.T) {
		p := controltest.StartWith(t, limited)
		p.Healthy()
		if c := checkOf(t, p.System, "disk"); !c.OK || !strings.Contains(c.Detail, "1 GiB") {
			t.Errorf("%+v", c)
		}
		if c := checkOf(t, p.System, "disk of My computer"); c.OK || !strings.Contains(c.Detail, "filled before") || c.Remedy == "" {
			t.Errorf("%+v", c)
		}
		f := fork(t, p.System, "second")
		p.Healthy()
		c, err := p.Computer(f.ID)
		if err == nil {
			_, err = c.Workspace().WriteFile(t.Context(), choir.RoleShell, "workspace/f", strings.NewReader(strings.Repeat("x", 5<<20)), workspace.Expect{})
		}
		if err != nil {
			t.Error(err)
		}
		if c := checkOf(t, p.System, "disk of second"); !c.OK || !strings.Contains(c.Detail, "of 1024 MiB") || strings.HasPrefix(c.Detail, "0 of") {
			t.Errorf("%+v", c)
		}
		got = projects(t, data)
		if got["second"] == 0 || got["My computer"] == 0 || got["second"] == got["My computer"] {
			t.Errorf("%v", got)
		}
	})
	t.Run("again without", func(t *testing.T) {
		p := controltest.StartWith(t, controltest.Config(t, data))
		p.Healthy()
		if again := projects(t, data); again["second"] != got["second"] {
			t.Errorf("%v, then %v", got, again)
		}
		fs, err := diskquota.Open(data)
		if err != nil {
			t.Fatal(err)
		}
		if use, err := fs.Use(got["second"]); err != nil || use.Limit != (diskquota.Limit{}) || use.Bytes < 5<<20 {
			t.Errorf("%+v, %v", use, err)
		}
	})
}
