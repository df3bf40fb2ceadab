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

// allowedHere returns the calls that programs need and that exist on this architecture only.
func allowedHere() []uint32 {
	return []uint32{
		unix.SYS_ACCESS, unix.SYS_ALARM, unix.SYS_ARCH_PRCTL, unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_CREAT,
		unix.SYS_DUP2, unix.SYS_EPOLL_CREATE, unix.SYS_EPOLL_WAIT, unix.SYS_EVENTFD, unix.SYS_FORK,
		unix.SYS_GETDENTS, unix.SYS_GETPGRP, unix.SYS_INOTIFY_INIT, unix.SYS_LCHOWN, unix.SYS_LINK, unix.SYS_LSTAT,
		unix.SYS_MKDIR, unix.SYS_MKNOD, unix.SYS_OPEN, unix.SYS_PAUSE, unix.SYS_PIPE, unix.SYS_POLL,
		unix.SYS_READLINK, unix.SYS_RENAME, unix.SYS_RMDIR, unix.SYS_SELECT, unix.SYS_SIGNALFD, unix.SYS_STAT,
		unix.SYS_SYMLINK, unix.SYS_TIME, unix.SYS_UNLINK, unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_VFORK,
	}
}
