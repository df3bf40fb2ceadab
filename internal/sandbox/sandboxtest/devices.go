package sandboxtest

import (
	"strings"
	"testing"
)

// devices are the entries of /dev in every sandbox: devices with their numbers, links with where
// they lead, and folders.
var devices = map[string]string{
	"/dev/null": "device 1:3", "/dev/zero": "device 1:5", "/dev/full": "device 1:7",
	"/dev/random": "device 1:8", "/dev/urandom": "device 1:9", "/dev/tty": "device 5:0",
	"/dev/fd": "link /proc/self/fd", "/dev/stdin": "link /proc/self/fd/0",
	"/dev/stdout": "link /proc/self/fd/1", "/dev/stderr": "link /proc/self/fd/2",
	"/dev/pts": "folder", "/dev/ptmx": "link pts/ptmx", "/dev/pts/ptmx": "device 5:2", "/dev/shm": "folder",
}

// harmless are entries that some sandboxes have besides: a link to a file that is not readable, and
// a folder for message queues of the sandbox's own.
var harmless = map[string]string{"/dev/core": "link /proc/kcore", "/dev/mqueue": "folder"}

// onlyKnownDevices checks that /dev has exactly the known entries, and that no other folder has a
// device.
func (b inside) onlyKnownDevices(t *testing.T) {
	found := value[map[string]string](t, b.probe(t, "devices"))
	for path, is := range found {
		want, known := devices[path]
		if !known {
			want, known = harmless[path]
		}
		if !known || is != want {
			t.Errorf("%s is a %s, wanted %q", path, is, want)
		}
	}
	for path, want := range devices {
		if found[path] == "" {
			t.Errorf("there is no %s, a %s", path, want)
		}
	}
	const search = "find / -xdev \\( -type b -o -type c \\) -print; find /tmp /home /run /sys /workspace \\( -type b -o -type c \\) -print 2>/dev/null; true"
	if out := b.run(t, "/bin/sh", "-c", search); strings.TrimSpace(string(out.Stdout)) != "" {
		t.Errorf("there are devices outside of /dev: %s", out.Stdout)
	}
}
