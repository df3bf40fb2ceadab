package machine

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// inside is the user of everything in the sandbox, sandbox.InsideUID.
const inside = 1000

func mount(source, target, kind string, flags uintptr, data string) error {
	if err := os.MkdirAll(target, 0o755); err != nil {
		return err
	}
	if err := unix.Mount(source, target, kind, flags, data); err != nil {
		return fmt.Errorf("mount %s: %w", target, err)
	}
	return nil
}

// mountKernel mounts the file systems of the kernel outside of the sandbox.
func mountKernel(Config) error {
	for _, m := range []struct{ target, kind string }{{"/proc", "proc"}, {"/sys", "sysfs"}, {"/dev", "devtmpfs"}} {
		if err := mount(m.kind, m.target, m.kind, unix.MS_NOSUID|unix.MS_NOEXEC, ""); err != nil {
			return err
		}
	}
	return nil
}

const closed = unix.MS_NOSUID | unix.MS_NODEV

// makeRoot makes the root folder of the sandbox at newRoot: folders in memory, the
// image's programs, the guest binaries and the workspace's disk.
func makeRoot(c Config) error {
	if err := mount("/dev/vda", "/image", "squashfs", closed|unix.MS_RDONLY, ""); err != nil {
		return err
	}
	if err := mount("tmpfs", newRoot, "tmpfs", closed, "mode=0755,size=1m"); err != nil {
		return err
	}
	for _, name := range []string{"bin", "sbin", "lib", "lib32", "lib64", "libx32"} {
		if _, err := os.Stat("/image/usr/" + name); err == nil {
			if err := os.Symlink("usr/"+name, newRoot+"/"+name); err != nil {
				return err
			}
		}
	}
	for _, name := range []string{"usr", "etc"} {
		if err := bind("/image/"+name, newRoot+"/"+name); err != nil {
			return err
		}
	}
	guest := Guest
	if _, err := os.Stat(guest); err != nil {
		guest = "/image/opt/choir" // the image has the same
	}
	if err := bind(guest, newRoot+"/opt/choir"); err != nil {
		return err
	}
	if err := bindInit(newRoot + "/opt/choir/choir-init"); err != nil {
		return err
	}
	for _, dir := range []string{"proc", "var", "run"} {
		if err := os.Mkdir(newRoot+"/"+dir, 0o755); err != nil {
			return err
		}
	}
	if err := os.Symlink("/tmp", newRoot+"/var/tmp"); err != nil {
		return err
	}
	if err := makeDevices(c); err != nil {
		return err
	}
	size := fmt.Sprintf(",size=%d,nr_inodes=%d", c.Tmp, c.Files)
	if err := mount("tmpfs", newRoot+"/tmp", "tmpfs", closed, "mode=1777"+size); err != nil {
		return err
	}
	home := fmt.Sprintf("mode=0700,uid=%d,gid=%d", inside, inside)
	if err := mount("tmpfs", newRoot+"/home/choir", "tmpfs", closed, home+size); err != nil {
		return err
	}
	if c.Workspace {
		if err := mountWorkspace(newRoot + "/workspace"); err != nil {
			return err
		}
	}
	return readOnly(newRoot)
}

// mountWorkspace mounts the second disk, which is the sandbox's own and new.
func mountWorkspace(target string) error {
	if err := mount("/dev/vdb", target, "ext4", closed|unix.MS_NOATIME, ""); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(target, "lost+found")); err != nil && !os.IsNotExist(err) {
		return err
	}
	if err := os.Chown(target, inside, inside); err != nil {
		return err
	}
	return os.Chmod(target, 0o700)
}

func bind(source, target string) error {
	if err := mount(source, target, "", unix.MS_BIND, ""); err != nil {
		return err
	}
	return readOnly(target)
}

// bindInit puts this program, which is in memory, in the place of the same program at target, which
// would have to be read from the disk.
func bindInit(target string) error {
	if err := unix.Mount(Init, target, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("mount %s: %w", target, err)
	}
	return readOnly(target)
}

func readOnly(target string) error {
	if err := unix.Mount("", target, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY|closed, ""); err != nil {
		return fmt.Errorf("make %s read-only: %w", target, err)
	}
	return nil
}

// makeDevices makes the few devices that programs need.
func makeDevices(c Config) error {
	dev := newRoot + "/dev"
	if err := mount("tmpfs", dev, "tmpfs", unix.MS_NOSUID, "mode=0755,size=64k"); err != nil {
		return err
	}
	for name, minor := range map[string]uint32{"null": 3, "zero": 5, "full": 7, "random": 8, "urandom": 9} {
		if err := makeDevice(dev+"/"+name, 1, minor); err != nil {
			return err
		}
	}
	if err := makeDevice(dev+"/tty", 5, 0); err != nil {
		return err
	}
	for name, to := range map[string]string{
		"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2", "ptmx": "pts/ptmx",
	} {
		if err := os.Symlink(to, dev+"/"+name); err != nil {
			return err
		}
	}
	if err := mount("devpts", dev+"/pts", "devpts", unix.MS_NOSUID|unix.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620"); err != nil {
		return err
	}
	if err := mount("tmpfs", dev+"/shm", "tmpfs", closed, fmt.Sprintf("mode=1777,size=%d,nr_inodes=%d", c.Tmp, c.Files)); err != nil {
		return err
	}
	if err := unix.Mount("", dev, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY|unix.MS_NOSUID, ""); err != nil {
		return fmt.Errorf("make %s read-only: %w", dev, err)
	}
	return nil
}

func makeDevice(path string, major, minor uint32) error {
	if err := unix.Mknod(path, unix.S_IFCHR|0o666, int(unix.Mkdev(major, minor))); err != nil {
		return fmt.Errorf("make %s: %w", path, err)
	}
	return os.Chmod(path, 0o666)
}
