package host

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
)

// InitName is the guest binary that a sandbox begins with.
const InitName = "choir-init"

// ModulesInside is the last folder in which Node looks for a package, whatever the
// importing file.
const ModulesInside = "/node_modules"

// InitArgs returns choir-init in a sandbox and the arguments that all drivers give it which show
// the sandbox folders of the host. orphan is how long the sandbox outlives its control plane.
func InitArgs(spec sandbox.Spec, toolchains []string, orphan time.Duration) []string {
	args := []string{filepath.Join(sandbox.GuestInside, InitName), "--max-files", strconv.Itoa(spec.Limits.OpenFiles)}
	if _, has := spec.Workspace(); !has {
		args = append(args, "--workspace", "")
	} else {
		for _, path := range toolchains {
			args = append(args, "--toolchain", path)
		}
	}
	if orphan != sandbox.OrphanSeconds*time.Second {
		args = append(args, "--orphan", orphan.String())
	}
	return args
}

// LandlockArgs returns choir-init's arguments for the second wall, where this kernel has Landlock,
// and the folders of the host that are writable behind it.
func LandlockArgs(spec sandbox.Spec) []string {
	var args []string
	if HasLandlock() {
		args = append(args, "--landlock")
	}
	for _, mount := range spec.Mounts {
		if mount.Kind == sandbox.MountHost && !mount.ReadOnly {
			args = append(args, "--writable", mount.Target)
		}
	}
	return args
}

// MountPoints returns the mount points that the root folder of a sandbox with a workspace must
// have, for the workspace, the toolchains outside of /usr, and a folder of packages; modules is
// empty for none.
func MountPoints(toolchains []string, modules string) []string {
	points := []string{strings.TrimPrefix(sandbox.WorkspaceInside, "/")}
	for _, path := range toolchains {
		if !strings.HasPrefix(path, "/usr/") {
			points = append(points, strings.TrimPrefix(path, "/"))
		}
	}
	if modules != "" {
		points = append(points, strings.TrimPrefix(ModulesInside, "/"))
	}
	return points
}

// MakeFolders makes folders of a driver that sandboxes may pass through, and the folder of
// packages, which they may read; modules is empty for none.
func MakeFolders(driver, modules string, folders ...string) error {
	op := driver + ".setup"
	for _, dir := range folders {
		if err := os.MkdirAll(dir, 0o711); err != nil {
			return choir.Wrap(op, choir.CodeInternal, err, "make the driver's folder")
		}
		if err := os.Chmod(dir, 0o711); err != nil { // whatever the umask
			return choir.Wrap(op, choir.CodeInternal, err, "open the driver's folder for sandboxes")
		}
	}
	if modules == "" {
		return nil
	}
	return choir.Wrap(op, choir.CodeInternal, MakePublic(modules), "make the folder of packages")
}
