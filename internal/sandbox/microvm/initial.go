package microvm

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"

	"choiros/internal/choir"
	"choiros/internal/guest/machine"
	"choiros/internal/guestbin"
	"choiros/internal/machineimage"
	"choiros/internal/sandbox/host"
)

// initialFor returns the path of the initial file system for a folder of guest binaries:
// the kernel's modules, choir-init, the filter, and the guest binaries unless the image
// has the same. Its name depends on its content, so one is reused.
func (m *machineParts) initialFor(folder string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if path := m.initial[folder]; path != "" {
		return path, nil
	}
	content, err := m.makeInitial(folder)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(content)
	path := filepath.Join(m.cfg.StateDir, "initial-"+hex.EncodeToString(sum[:8]))
	if old, err := os.ReadFile(path); err != nil || !bytes.Equal(old, content) { // a power cut may have cut it
		if err := writeWhole(path, bytes.NewReader(content)); err != nil {
			return "", choir.Wrap("microvm.initial", choir.CodeInternal, err, "write an initial file system")
		}
	}
	m.initial[folder] = path
	return path, nil
}

func (m *machineParts) makeInitial(folder string) ([]byte, error) {
	binaries, err := readBinaries(folder)
	if err != nil {
		return nil, err
	}
	filter, err := host.SeccompProgram()
	if err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	buf.Write(m.modules)
	a := machineimage.NewArchive(&buf)
	a.Add(machine.Init[1:], 0o111, binaries[guestbin.Init])
	a.Add(machine.Filter[1:], 0o644, filter)
	if !m.inImage(binaries) {
		for name, content := range binaries {
			a.Add(filepath.Join(machine.Guest[1:], name), 0o111, content)
		}
	}
	return buf.Bytes(), a.Close()
}

// readBinaries reads the guest binaries in a folder.
func readBinaries(folder string) (map[string][]byte, error) {
	entries, err := os.ReadDir(folder)
	out := map[string][]byte{}
	for _, e := range entries {
		if err == nil && e.Type().IsRegular() {
			out[e.Name()], err = os.ReadFile(filepath.Join(folder, e.Name()))
		}
	}
	if err == nil && out[guestbin.Init] == nil {
		err = os.ErrNotExist
	}
	return out, choir.Wrap("microvm.create", choir.CodeInvalid, err, "read %s among the guest binaries", guestbin.Init)
}

// inImage reports whether the image has exactly these guest binaries.
func (m *machineParts) inImage(binaries map[string][]byte) bool {
	if len(m.manifestGuest) != len(binaries) {
		return false
	}
	for name, content := range binaries {
		if m.manifestGuest[name] != choir.DigestOf(content) {
			return false
		}
	}
	return true
}

// writeWhole writes a file that appears whole or not at all.
func writeWhole(path string, content io.Reader) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // nothing is left of it once it has its name
	_, err = io.Copy(f, content)
	if err == nil {
		err = f.Chmod(0o644) // the monitor, as another user, opens it
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
