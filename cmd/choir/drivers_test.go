package main

import (
	"slices"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/config"
)

// TestEveryDriverCanBeConfigured: runtime.mode of choir.toml accepts each driver that newDrivers knows.
func TestEveryDriverCanBeConfigured(t *testing.T) {
	t.Parallel()
	file := config.Default()
	file.Runtime.Mode = "none of them"
	_, err := newDrivers(file, t.TempDir(), "")
	_, values := choir.ReasonOf(err)
	at := slices.IndexFunc(values, func(v choir.Value) bool { return v.Name == "names" })
	if at < 0 {
		t.Fatal(err)
	}
	names := strings.Split(values[at].Text, ", ")
	if len(names) < 5 {
		t.Fatal(names)
	}
	for _, name := range names {
		_, err := config.Parse([]byte("[runtime]\nmode = '" + name + "'"))
		if reason, _ := choir.ReasonOf(err); reason == choir.ReasonFieldOneOf {
			t.Errorf("choir.toml refuses the driver %s: add it to checkFeatures (internal/config/check.go), and to the doc of runtime.mode: %v", name, err)
		}
	}
}
