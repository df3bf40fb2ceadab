package host

import "golang.org/x/sys/unix"

const (
	auditArch      = 0xc00000b7 // AUDIT_ARCH_AARCH64
	foreignNumbers = 0
)

// deniedHere returns the denied calls that exist on this architecture only, or have
// another name here.
func deniedHere() []denial {
	return []denial{
		{"kexec_file_load", unix.SYS_KEXEC_FILE_LOAD, unix.EPERM},
	}
}

// allowedHere returns the calls that programs need and that exist on this architecture only.
func allowedHere() []uint32 { return nil }
