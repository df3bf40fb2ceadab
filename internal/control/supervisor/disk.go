package supervisor

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"choiros/internal/sandbox"
)

// diskCheck says whether the disk that a computer's workspace may fill is limited.
// choir sets no quota, so it is not; the detail says what holds instead.
func diskCheck(data string) sandbox.Check {
	c := sandbox.Check{Name: "disk", Remedy: "give the data folder a file system of its own"}
	var st unix.Statfs_t
	if err := unix.Statfs(data, &st); err != nil {
		c.Detail = fmt.Sprintf("not limited, and the free space cannot be read: %v", err)
		return c
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	kind, quota := "its file system", false
	if err == nil {
		kind, quota = fileSystemOf(string(mounts), data)
	}
	why := kind + " is mounted without project quotas"
	if quota {
		why = kind + " has project quotas, and choir sets none"
	}
	c.Detail = fmt.Sprintf("not limited, because %s; %d MiB are free, of which copies of workspaces leave some for choir itself", why, int64(st.Bavail)*st.Bsize>>20)
	return c
}

// fileSystemOf is the kind of the file system that holds a path, by the lines of
// mountinfo, and whether project quotas are on.
func fileSystemOf(mounts, path string) (kind string, quota bool) {
	kind, longest := "its file system", -1
	for line := range strings.Lines(mounts) {
		before, after, ok := strings.Cut(line, " - ")
		at, rest := strings.Fields(before), strings.Fields(after)
		if !ok || len(at) < 5 || len(rest) < 3 || len(at[4]) < longest {
			continue
		}
		if at[4] == "/" || path == at[4] || strings.HasPrefix(path, at[4]+"/") {
			longest, kind = len(at[4]), rest[0]
			options := strings.Split(rest[2], ",")
			quota = slices.Contains(options, "prjquota") || slices.Contains(options, "pquota")
		}
	}
	return kind, quota
}
