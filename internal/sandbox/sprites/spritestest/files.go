package spritestest

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// root opens the root folder of a sprite: no path leads out of it.
func (m *machine) root() (*os.Root, error) {
	return os.OpenRoot("/proc/" + strconv.Itoa(m.pid) + "/root")
}

// within returns a path of a request, which is relative to the folder dir unless it is absolute, as
// a path relative to the root folder.
func within(dir, name string) string {
	if !path.IsAbs(name) {
		name = path.Join("/", dir, name)
	}
	if name = strings.TrimPrefix(path.Clean(name), "/"); name == "" {
		return "."
	}
	return name
}

// inRoot opens the root folder of a sprite for do, and answers with its error.
func inRoot(w http.ResponseWriter, m *machine, at string, do func(*os.Root) error) {
	root, err := m.root()
	if err == nil {
		defer root.Close()
		err = do(root)
	}
	if err == nil {
		return
	}
	status, code := http.StatusInternalServerError, "EIO"
	var number syscall.Errno
	switch {
	case errors.Is(err, fs.ErrNotExist):
		status, code = http.StatusNotFound, "ENOENT"
	case errors.Is(err, fs.ErrPermission):
		status, code = http.StatusForbidden, "EACCES"
	case errors.As(err, &number):
		status, code = http.StatusBadRequest, map[syscall.Errno]string{syscall.EISDIR: "EISDIR", syscall.ENOTDIR: "ENOTDIR", syscall.ENOTEMPTY: "ENOTEMPTY", syscall.EROFS: "EACCES"}[number]
	}
	answer(w, status, map[string]string{"error": err.Error(), "code": code, "path": at})
}

func asked(r *http.Request) string {
	return within(r.URL.Query().Get("workingDir"), r.URL.Query().Get("path"))
}

func readFile(w http.ResponseWriter, r *http.Request, m *machine) {
	at := asked(r)
	inRoot(w, m, at, func(root *os.Root) error {
		content, err := root.ReadFile(at)
		if err == nil {
			w.Header().Set("Content-Type", "application/octet-stream")
			w.Write(content) // the client may be gone
		}
		return err
	})
}

func writeFile(w http.ResponseWriter, r *http.Request, m *machine) {
	at := asked(r)
	inRoot(w, m, at, func(root *os.Root) error {
		mode := uint64(0o644)
		if given := r.URL.Query().Get("mode"); given != "" {
			var err error
			if mode, err = strconv.ParseUint(given, 8, 12); err != nil {
				return syscall.EINVAL
			}
		}
		if r.URL.Query().Get("mkdirParents") == "true" {
			if err := root.MkdirAll(path.Dir(at), 0o755); err != nil {
				return err
			}
		}
		f, err := root.OpenFile(at, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		defer f.Close()
		n, err := io.Copy(f, r.Body)
		if err != nil {
			return err
		}
		if err := f.Chmod(fs.FileMode(mode)); err != nil {
			return err
		}
		answer(w, http.StatusOK, fileWritten{"/" + at, n, strconv.FormatUint(mode, 8)})
		return nil
	})
}

func listFiles(w http.ResponseWriter, r *http.Request, m *machine) {
	at := asked(r)
	inRoot(w, m, at, func(root *os.Root) error {
		info, err := root.Lstat(at)
		if err != nil {
			return err
		}
		entries := []fileEntry{}
		if !info.IsDir() {
			entries = append(entries, entry(at, info))
		} else if entries, err = entriesOf(root, at); err != nil {
			return err
		}
		answer(w, http.StatusOK, fileList{"/" + at, entries, len(entries)})
		return nil
	})
}

func entriesOf(root *os.Root, at string) ([]fileEntry, error) {
	dir, err := root.Open(at)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	infos, err := dir.Readdir(-1)
	entries := []fileEntry{}
	for _, info := range infos {
		entries = append(entries, entry(filepath.Join(at, info.Name()), info))
	}
	return entries, err
}

func deleteFile(w http.ResponseWriter, r *http.Request, m *machine) {
	at := asked(r)
	inRoot(w, m, at, func(root *os.Root) error {
		_, err := root.Lstat(at)
		if err == nil && r.URL.Query().Get("recursive") == "true" {
			err = root.RemoveAll(at)
		} else if err == nil {
			err = root.Remove(at)
		}
		if err == nil {
			answer(w, http.StatusOK, filesDeleted{[]string{"/" + at}, 1})
		}
		return err
	})
}

func renameFile(w http.ResponseWriter, r *http.Request, m *machine) {
	var c struct{ Source, Dest, WorkingDir string }
	if err := json.NewDecoder(r.Body).Decode(&c); err != nil {
		refuse(w, http.StatusBadRequest, "EINVAL", err.Error())
		return
	}
	from, to := within(c.WorkingDir, c.Source), within(c.WorkingDir, c.Dest)
	inRoot(w, m, from, func(root *os.Root) error {
		err := root.Rename(from, to)
		if err == nil {
			answer(w, http.StatusOK, map[string]string{"source": "/" + from, "dest": "/" + to})
		}
		return err
	})
}

func chmodFile(w http.ResponseWriter, r *http.Request, m *machine) {
	var c struct{ Path, WorkingDir, Mode string }
	if err := json.NewDecoder(r.Body).Decode(&c); err != nil {
		refuse(w, http.StatusBadRequest, "EINVAL", err.Error())
		return
	}
	at := within(c.WorkingDir, c.Path)
	inRoot(w, m, at, func(root *os.Root) error {
		mode, err := strconv.ParseUint(c.Mode, 8, 12)
		if err != nil {
			return syscall.EINVAL
		}
		if err := root.Chmod(at, fs.FileMode(mode)); err != nil {
			return err
		}
		answer(w, http.StatusOK, modeSet{"/" + at, c.Mode, 1})
		return nil
	})
}
