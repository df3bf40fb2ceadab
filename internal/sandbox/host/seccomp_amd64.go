package host

import "golang.org/x/sys/unix"

const (
	auditArch = 0xc000003e // AUDIT_ARCH_X86_64
	// foreignNumbers is where the x32 calls begin, a second table that would
	// walk around every rule.
	foreignNumbers = 0x40000000
)

// deniedHere returns the denied calls that exist on this architecture only.
func deniedHere() []denial {
	return []denial{
		{"iopl", unix.SYS_IOPL, unix.EPERM},
		{"ioperm", unix.SYS_IOPERM, unix.EPERM},
		{"modify_ldt", unix.SYS_MODIFY_LDT, unix.EPERM},
		{"uselib", unix.SYS_USELIB, unix.ENOSYS},
		{"sysfs", unix.SYS_SYSFS, unix.EPERM},
		{"ustat", unix.SYS_USTAT, unix.EPERM},
		{"_sysctl", unix.SYS__SYSCTL, unix.ENOSYS},
		{"create_module", unix.SYS_CREATE_MODULE, unix.ENOSYS},
		{"get_kernel_syms", unix.SYS_GET_KERNEL_SYMS, unix.ENOSYS},
		{"query_module", unix.SYS_QUERY_MODULE, unix.ENOSYS},
		{"kexec_file_load", unix.SYS_KEXEC_FILE_LOAD, unix.EPERM},
	}
}
