package host

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"choiros/internal/choir"
)

// CopyReadable copies the programs in the folder source to a folder below dir, with modes
// that let everybody read them too, and returns its path. Its name depends on the programs,
// so that an existing copy is reused. It is for a kernel that runs only what may be read.
func CopyReadable(dir, source string) (string, error) {
	const op = "host.programs"
	entries, err := os.ReadDir(source)
	if err != nil {
		return "", choir.Wrap(op, choir.CodeInvalid, err, "look for the guest binaries")
	}
	h := sha256.New()
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return "", choir.Wrap(op, choir.CodeInvalid, err, "look at the guest binary %s", e.Name())
		}
		fmt.Fprintf(h, "%q %q %d %d\n", source, e.Name(), info.Size(), info.ModTime().UnixNano())
	}
	target := filepath.Join(dir, "guest-"+hex.EncodeToString(h.Sum(nil)[:8]))
	return target, putInPlace(dir, target, func(tmp string) error {
		for _, e := range entries {
			if err := copyProgram(filepath.Join(tmp, e.Name()), filepath.Join(source, e.Name())); err != nil {
				return err
			}
		}
		return os.Chmod(tmp, 0o755)
	})
}

func copyProgram(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o555)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		out.Close()
		return err
	}
	if err := out.Close(); err != nil {
		return err
	}
	return os.Chmod(to, 0o555) // whatever the umask
}
