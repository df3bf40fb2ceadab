package bench

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
)

const commitFloorPeer = "its floor: one scan, what git's formats demand and three syncs by the smallest program, not isolated"

// commitFloor is the smallest program that makes a durable checkpoint of one changed file.
// It is one process that shares no code with the product, speaks to nobody, isolates
// nothing, and writes for one kind of change only. Its steps, in their order:
//
//   - a durable record of the request, since a submitted task must not be lost;
//   - a scan of the work tree, without .git, to find the file that changed;
//   - the file as a blob and a new tree for each folder above it, hashed with SHA-1 and
//     deflated; git reads objects in no other form;
//   - the commit object and the branch, under the branch's lock and with a rename, since
//     another git may read or write at the same time;
//   - the index with the file's new stat and ids, under its lock: git writes an index whole,
//     with the SHA-1 of all of it at its end, and says that every file is changed if it is
//     not that of the commit;
//   - the content that is new, which is the blob and the git files, durable in a store of
//     its own: git syncs none of them, and a checkpoint must outlive a power cut;
//   - a durable record of the checkpoint, before anybody hears of it.
//
// It does not write the reflog, does not check the old index's SHA-1 or its other entries,
// and does not scan for what changed in .git, all of which git or the product do. The
// product has twice as many syncs: strace -f shows 6 fdatasync in series per checkpoint,
// 4 of the journal and 2 of the content store.
type commitFloor struct {
	dir   string
	tree  *floorTree
	log   *floorLog
	store *floorLog
	at    int64
}

// newCommitFloor makes the tree of a gitPeer, and commits in it without git from then on.
func (l *lab) newCommitFloor(ctx context.Context, files int) (*commitFloor, error) {
	dir, err := l.folder()
	if err != nil {
		return nil, err
	}
	work := filepath.Join(dir, "tree")
	if err := os.Mkdir(work, 0o755); err != nil {
		return nil, choir.Wrap("bench.floor", choir.CodeUnavailable, err, "make a tree")
	}
	// Else git packs in the background what this reads.
	if _, err := newGitPeer(ctx, work, files, "gc.auto=0", "maintenance.auto=false"); err != nil {
		return nil, err
	}
	f := &commitFloor{dir: work, at: benchTime.Std().Unix()}
	if f.tree, err = openFloorTree(work); err != nil {
		return nil, err
	}
	f.tree.leaveOutGit()
	if f.log, err = newFloorLog(filepath.Join(dir, "log")); err != nil {
		return nil, err
	}
	f.store, err = newFloorLog(filepath.Join(dir, "store"))
	return f, err
}

func (f *commitFloor) close() error { return errors.Join(f.log.close(), f.store.close()) }

// leaveOutGit has later scans pass over the repository's own files.
func (t *floorTree) leaveOutGit() {
	var kept []*floorFolder
	for _, f := range t.folders {
		if f.path != ".git" && !strings.HasPrefix(f.path, ".git/") {
			kept = append(kept, f)
		}
	}
	t.folders = kept
}

// sample changes a file and commits it.
func (f *commitFloor) sample(context.Context) (float64, error) {
	files := 0
	for _, folder := range f.tree.folders {
		files += len(folder.names)
	}
	if err := change(filepath.Join(f.dir, changedFile(files))); err != nil {
		return 0, err
	}
	began := time.Now()
	err := f.checkpoint()
	return millis(time.Since(began)), choir.Wrap("bench.floor", choir.CodeInternal, err, "make the floor's checkpoint")
}

// checkpoint makes one checkpoint.
func (f *commitFloor) checkpoint() error {
	if err := f.log.append(floorRecord(dispatchedBytes)); err != nil {
		return err
	}
	changed, err := f.tree.scan()
	if err != nil {
		return err
	}
	if len(changed) != 1 {
		return fmt.Errorf("%d files changed", len(changed))
	}
	var content bytes.Buffer // what is new and has to be durable
	if err := f.commit(changed[0], &content); err != nil {
		return err
	}
	if err := f.store.append(content.Bytes()); err != nil {
		return err
	}
	return f.log.append(floorRecord(returnedBytes))
}

// commit commits one file and adds what it wrote to content.
func (f *commitFloor) commit(name string, content *bytes.Buffer) error {
	lock, err := os.OpenFile(f.git("index.lock"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer lock.Close()
	index, err := os.ReadFile(f.git("index"))
	if err != nil {
		return err
	}
	file, err := os.ReadFile(filepath.Join(f.dir, name))
	if err != nil {
		return err
	}
	var st unix.Stat_t
	if err := unix.Stat(filepath.Join(f.dir, name), &st); err != nil {
		return err
	}
	blob, err := f.write("blob", file, content)
	if err != nil {
		return err
	}
	old, err := putEntry(index, name, blob, &st)
	if err != nil {
		return err
	}
	head, err := os.ReadFile(f.git("refs/heads/main"))
	if err != nil {
		return err
	}
	parent := string(bytes.TrimSpace(head))
	tree, err := f.trees(parent, name, old, blob, index, content)
	if err != nil {
		return err
	}
	f.at++
	who := fmt.Sprintf("bench <bench@choir.invalid> %d +0000", f.at)
	commit, err := f.write("commit", fmt.Appendf(nil, "tree %x\nparent %s\nauthor %s\ncommitter %s\n\nchange\n", tree, parent, who, who), content)
	if err != nil {
		return err
	}
	if err := f.moveBranch(commit); err != nil {
		return err
	}
	body := index[:len(index)-sha1.Size]
	sum := sha1.Sum(body)
	copy(index[len(body):], sum[:])
	content.Write(index)
	if _, err := lock.Write(index); err != nil {
		return err
	}
	return os.Rename(f.git("index.lock"), f.git("index"))
}

func (f *commitFloor) git(name string) string { return filepath.Join(f.dir, ".git", name) }

// putEntry writes the stat and the id of a file into its entry of an index of version 2,
// and returns the id that was there; see gitformat-index(5).
func putEntry(index []byte, name string, id []byte, st *unix.Stat_t) (old []byte, err error) {
	const head, idAt, nameAt = 12, 40, 62
	at := head
	for range binary.BigEndian.Uint32(index[8:]) {
		entry := index[at:]
		end := bytes.IndexByte(entry[nameAt:], 0)
		if string(entry[nameAt:nameAt+end]) != name {
			at += (nameAt + end + 8) &^ 7
			continue
		}
		for i, v := range []int64{st.Ctim.Sec, st.Ctim.Nsec, st.Mtim.Sec, st.Mtim.Nsec, int64(st.Dev), int64(st.Ino)} {
			binary.BigEndian.PutUint32(entry[4*i:], uint32(v))
		}
		binary.BigEndian.PutUint32(entry[36:], uint32(st.Size))
		old = bytes.Clone(entry[idAt : idAt+sha1.Size])
		copy(entry[idAt:], id)
		return old, nil
	}
	return nil, fmt.Errorf("%s is not in the index", name)
}

// trees writes the trees above a file whose id changed from old to now, and returns the id
// of the root's. The index keeps the ids of trees too: they are replaced there.
func (f *commitFloor) trees(parent, name string, old, now, index []byte, content *bytes.Buffer) ([]byte, error) {
	commit, err := f.read(parent)
	if err != nil {
		return nil, err
	}
	id := string(commit[len("tree "):][:2*sha1.Size])
	type tree struct{ id, content []byte }
	var path []tree // from the root to the file's folder
	for parts := strings.Split(name, "/"); ; parts = parts[1:] {
		raw, err := f.read(id)
		if err != nil {
			return nil, err
		}
		known, _ := hex.DecodeString(id) // git wrote it
		path = append(path, tree{known, raw})
		if len(parts) == 1 {
			break
		}
		at := bytes.Index(raw, []byte(" "+parts[0]+"\x00"))
		if at < 0 {
			return nil, fmt.Errorf("%s is not in the tree", name)
		}
		id = hex.EncodeToString(raw[at+len(parts[0])+2:][:sha1.Size])
	}
	cached := index[bytes.LastIndex(index, []byte("TREE")):]
	for i := len(path) - 1; i >= 0; i-- {
		t := path[i]
		next, err := f.write("tree", bytes.Replace(t.content, old, now, 1), content)
		if err != nil {
			return nil, err
		}
		if at := bytes.Index(cached, t.id); at >= 0 {
			copy(cached[at:], next)
		}
		old, now = t.id, next
	}
	return now, nil
}

// read returns the content of a loose object, without its header.
func (f *commitFloor) read(id string) ([]byte, error) {
	file, err := os.Open(f.git("objects/" + id[:2] + "/" + id[2:]))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	z, err := zlib.NewReader(file)
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(z)
	_, body, _ := bytes.Cut(raw, []byte{0})
	return body, err
}

// write writes a loose object and returns its id.
func (f *commitFloor) write(kind string, body []byte, content *bytes.Buffer) ([]byte, error) {
	whole := append(fmt.Appendf(nil, "%s %d\x00", kind, len(body)), body...)
	id := sha1.Sum(whole)
	var packed bytes.Buffer
	z, err := zlib.NewWriterLevel(&packed, zlib.BestSpeed) // git's choice too
	if err != nil {
		return nil, err
	}
	z.Write(whole) // a buffer takes everything
	z.Close()
	content.Write(packed.Bytes())
	folder := f.git(fmt.Sprintf("objects/%x", id[:1]))
	if err := os.Mkdir(folder, 0o755); err != nil && !os.IsExist(err) {
		return nil, err
	}
	temp := filepath.Join(folder, "tmp_obj_floor")
	if err := os.WriteFile(temp, packed.Bytes(), 0o444); err != nil {
		return nil, err
	}
	return id[:], os.Rename(temp, filepath.Join(folder, hex.EncodeToString(id[1:])))
}

// moveBranch sets the branch to a commit.
func (f *commitFloor) moveBranch(commit []byte) error {
	branch := f.git("refs/heads/main")
	lock, err := os.OpenFile(branch+".lock", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(lock, "%x\n", commit)
	if cerr := lock.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	return os.Rename(branch+".lock", branch)
}
