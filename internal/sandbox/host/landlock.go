package host

import "golang.org/x/sys/unix"

// LandlockNeeded is the first version of Landlock that allows a rename between folders
// (Linux 5.19).
const LandlockNeeded = 2

// HasLandlock reports whether the kernel's Landlock is recent enough for choir-init to
// use.
func HasLandlock() bool { return LandlockVersion() >= LandlockNeeded }

// LandlockVersion returns the kernel's version of Landlock; 0 if it has none.
func LandlockVersion() int {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(version)
}
