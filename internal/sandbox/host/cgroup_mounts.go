package host

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// hierarchy is a mounted cgroup file system and the position of this process in it.
type hierarchy struct {
	version     int
	controllers []string // version 1
	own         string   // the folder of this process
	top         string   // the topmost folder that can be seen
}

// hierarchies returns the mounted cgroup file systems that contain this process; nil
// without /proc.
func hierarchies() []hierarchy { return hierarchiesOf(os.Getpid()) }

// OpenGroupOf returns the group of a running process that another program has put into one;
// nil if there is none with limits.
func OpenGroupOf(pid int) Group { return OpenGroupNamed(pid, "") }

// OpenGroupNamed is OpenGroupOf for folders alone whose path has name in it, so that a process that
// shares its starter's group gives none.
func OpenGroupNamed(pid int, name string) Group {
	var folders []string
	for _, h := range hierarchiesOf(pid) {
		if !strings.Contains(h.own, name) {
			continue
		}
		if h.version == 2 {
			if _, err := os.Stat(filepath.Join(h.own, "memory.current")); err == nil {
				return &v2Group{dir: h.own}
			}
		} else if slices.ContainsFunc(h.controllers, usesV1) {
			folders = append(folders, h.own)
		}
	}
	if folders == nil {
		return nil
	}
	return &v1Group{dirs: folders}
}

// FoldersNamed returns the folders of the cgroups of a process, of every controller, whose path
// has name in it.
func FoldersNamed(pid int, name string) (folders []string) {
	for _, h := range hierarchiesOf(pid) {
		if strings.Contains(h.own, name) {
			folders = append(folders, h.own)
		}
	}
	return folders
}

// RemoveFolders removes the folders of empty cgroups. It is idempotent.
func RemoveFolders(folders []string) error {
	var errs []error
	for _, dir := range folders {
		errs = append(errs, removeGroup(dir))
	}
	return errors.Join(errs...)
}

// hierarchiesOf returns the mounted cgroup file systems that contain a process; nil without
// /proc, and for a process that has ended.
func hierarchiesOf(pid int) []hierarchy {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil // no proc, no cgroups
	}
	its, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cgroup")
	if err != nil {
		return nil // it has ended
	}
	return parseHierarchies(string(mounts), string(its))
}

// parseHierarchies parses /proc/self/mountinfo and /proc/self/cgroup, see proc(5) and
// cgroups(7).
func parseHierarchies(mountinfo, cgroup string) []hierarchy {
	var out []hierarchy
	for line := range strings.Lines(mountinfo) {
		before, after, ok := strings.Cut(strings.TrimSpace(line), " - ")
		fields, tail := strings.Fields(before), strings.Fields(after)
		if !ok || len(fields) < 5 || len(tail) < 3 {
			continue
		}
		root, point := fields[3], fields[4]
		h := hierarchy{version: 1, controllers: strings.Split(tail[2], ",")}
		switch tail[0] {
		case "cgroup":
		case "cgroup2":
			h = hierarchy{version: 2}
		default:
			continue
		}
		path, ok := ownPath(cgroup, h)
		if rel, err := filepath.Rel(root, path); ok && err == nil && !strings.HasPrefix(rel, "..") {
			h.own, h.top = filepath.Join(point, rel), point
			out = append(out, h)
		}
	}
	return out
}

// ownPath returns the path of this process in a hierarchy, from the text of
// /proc/self/cgroup.
func ownPath(cgroup string, h hierarchy) (string, bool) {
	for line := range strings.Lines(cgroup) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		if h.version == 2 && parts[0] == "0" && parts[1] == "" {
			return parts[2], true
		}
		if h.version == 1 && parts[1] != "" && containsAll(h.controllers, strings.Split(parts[1], ",")) {
			return parts[2], true
		}
	}
	return "", false
}

func containsAll(have, want []string) bool {
	return !slices.ContainsFunc(want, func(w string) bool { return !slices.Contains(have, w) })
}
