package diskquota

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Commands of quotactl(2), for quotas of projects.
const (
	projectQuota = 2 // PRJQUOTA
	getQuota     = 0x800007<<8 | projectQuota
	setQuota     = 0x800008<<8 | projectQuota
	getState     = ('X'<<8|8)<<8 | projectQuota // Q_XGETQSTATV

	// blockSize is the unit of the limits in struct dqblk.
	blockSize = 1024
	// validLimits are QIF_BLIMITS and QIF_ILIMITS.
	validLimits = 1 | 4
)

// Flags of a file system's state, from linux/dqblk_xfs.h.
const (
	stateCounted  = 1 << 4 // FS_QUOTA_PDQ_ACCT
	stateEnforced = 1 << 5 // FS_QUOTA_PDQ_ENFD
)

// dqblk is struct if_dqblk of linux/quota.h.
type dqblk struct {
	blocksHard, blocksSoft, bytes uint64
	filesHard, filesSoft, files   uint64
	blocksTime, filesTime         uint64
	valid                         uint32
	_                             uint32
}

// quotaState is struct fs_quota_statv of linux/dqblk_xfs.h.
type quotaState struct {
	version  int8
	_        uint8
	flags    uint16
	inCore   uint32
	files    [3][3]uint64
	times    [3]int32
	warnings [3]uint16
	_        [2]uint8
	_        [7]uint64
}

// fsxattr is struct fsxattr of linux/fs.h.
type fsxattr struct {
	flags, extentSize, extents, project, cowExtentSize uint32
	_                                                  [8]byte
}

const (
	getAttributes  = 0x801c581f // FS_IOC_FSGETXATTR
	setAttributes  = 0x401c5820 // FS_IOC_FSSETXATTR
	projectInherit = 0x200      // FS_XFLAG_PROJINHERIT
)

// quotactl calls quotactl_fd(2) (Linux 5.14) for the file system of the folder dir.
func quotactl(dir string, command int, project uint32, arg unsafe.Pointer) error {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	_, _, errno := unix.Syscall6(unix.SYS_QUOTACTL_FD, uintptr(fd), uintptr(command), uintptr(project), uintptr(arg), 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// state returns the flags that tell whether the file system of dir counts and enforces
// project quotas.
func state(dir string) (uint16, error) {
	s := quotaState{version: 1}
	err := quotactl(dir, getState, 0, unsafe.Pointer(&s))
	return s.flags, err
}

// attributes reads or writes, by the ioctl request, the attributes of an open file.
func attributes(fd int, request uintptr, a *fsxattr) error {
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(unsafe.Pointer(a)))
	if errno != 0 {
		return errno
	}
	return nil
}
