package snapshot

import "golang.org/x/sys/unix"

// RenameNew renames name in the folder from to newName in the folder to, which must not
// exist: the error is EEXIST otherwise. Where the kernel cannot promise that (gVisor, for
// a folder that the host changes too), a file is linked and then removed, which promises
// it as well; a folder is renamed after a look, so that an empty folder that is made at
// that moment is replaced.
func RenameNew(from int, name string, to int, newName string) error {
	err := unix.Renameat2(from, name, to, newName, unix.RENAME_NOREPLACE)
	if err != unix.EINVAL {
		return err
	}
	return renameNewByLook(from, name, to, newName)
}

// renameNewByLook is RenameNew without help of the kernel.
func renameNewByLook(from int, name string, to int, newName string) error {
	var st unix.Stat_t
	if err := unix.Fstatat(from, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		if err := unix.Linkat(from, name, to, newName, 0); err != nil {
			return err
		}
		return unix.Unlinkat(from, name, 0)
	}
	var there unix.Stat_t
	switch err := unix.Fstatat(to, newName, &there, unix.AT_SYMLINK_NOFOLLOW); err {
	case unix.ENOENT:
		return unix.Renameat(from, name, to, newName)
	case nil:
		return unix.EEXIST
	default:
		return err
	}
}
