package fs

import (
	"golang.org/x/sys/unix"

	"choiros/internal/sparse"
)

// The reserve is what content leaves free on the disk, so that the log, the bus and
// the control plane's own files can still be written: a twentieth of it, at most
// so many bytes. What goes through the write-ahead log is small and uses it.
const (
	reserveShare = 20
	mostReserve  = 256 << 20
)

// roomFor reports ENOSPC unless so many bytes more fit on the disk beside the
// reserve.
func (s *Store) roomFor(size int64) error {
	var st unix.Statfs_t
	if err := unix.Statfs(s.dir, &st); err != nil || st.Blocks == 0 {
		return err
	}
	free := int64(st.Bavail) * st.Bsize
	reserve := min(int64(st.Blocks)*st.Bsize/reserveShare, mostReserve)
	if size > free-reserve {
		return unix.ENOSPC
	}
	return nil
}

// RoomFor implements blob.Roomer.
func (s *Store) RoomFor(size int64) error { return fail("blob.room", s.roomFor(size), s.dir) }

// lookEvery is how much is written until the room is looked at again.
const lookEvery = 4 << 20

// longWriter writes content of unknown length as long as there is room for it.
type longWriter struct {
	store *Store
	file  *sparse.Writer
	room  int64 // bytes that may be written until the next look
}

// Write implements io.Writer.
func (w *longWriter) Write(b []byte) (int, error) {
	if w.room -= int64(len(b)); w.room < 0 {
		w.room = lookEvery
		if err := w.store.roomFor(lookEvery); err != nil {
			return 0, err
		}
	}
	return w.file.Write(b)
}
