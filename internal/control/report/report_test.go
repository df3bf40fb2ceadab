package report

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"choiros/internal/choir"
)

func unpack(t *testing.T, packed []byte) map[string]string {
	t.Helper()
	zip, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for archive := tar.NewReader(zip); ; {
		head, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		out[head.Name] = string(raw)
	}
}

func TestASecretThatIsKnownIsInNoPart(t *testing.T) {
	t.Parallel()
	secrets := []string{"sk-plain-1", "has \"quotes\" & <marks>\\", "first line\nsecond line", "sk-plain-1-longer", "models", "short", ""}
	r := New(time.Unix(1_800_000_000, 0), secrets, []string{"models"})
	for _, s := range secrets {
		if err := r.AddJSON("value.json", s, map[string]string{"a": "x" + s + "y"}); err != nil {
			t.Fatal(err)
		}
		r.AddText("text.txt", s, []byte("said "+s))
		r.Leave(s, s)
	}
	r.LeaveFailed("the log", choir.E("some.op", choir.CodeCorrupt, "sk-plain-1 is wrong"))
	var packed bytes.Buffer
	if err := r.Write(&packed); err != nil {
		t.Fatal(err)
	}
	all := unpack(t, packed.Bytes())
	var whole strings.Builder
	for name, content := range all {
		whole.WriteString(content)
		if strings.HasSuffix(name, ".json") && !json.Valid([]byte(content)) {
			t.Errorf("%s is %s", name, content)
		}
	}
	for _, gone := range []string{"sk-plain", "quotes", "first line", "second line"} {
		if strings.Contains(whole.String(), gone) {
			t.Errorf("%q is in the report: %s", gone, whole.String())
		}
	}
	for _, there := range []string{"models", "short", "the log: could not be read: corrupt", "In the report:", "Left out:"} {
		if !strings.Contains(whole.String(), there) {
			t.Errorf("%q is not in the report: %s", there, whole.String())
		}
	}
	if all["choir-report/"+contentsName] != r.Contents() {
		t.Error("what is printed is not what the report lists")
	}
}

func TestTheMachineIsToldWithoutItsName(t *testing.T) {
	t.Parallel()
	m := LookAtMachine(t.TempDir())
	if m.Release == "" || m.CPUs < 1 || m.MemoryMiB < 1 || m.Cgroups == "" || m.Namespaces["net"] == "" || m.Status["CapEff"] == "" || m.FileSystem == "" {
		t.Errorf("%+v", m)
	}
	if fact("a\x1b[31m") != withheld || fact("user@host") != withheld || fact("6.1.0-28-amd64 #1 SMP\n") != "6.1.0-28-amd64 #1 SMP" {
		t.Error("what is no plain fact is told")
	}
}
