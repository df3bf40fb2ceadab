package fs

import (
	"golang.org/x/sys/unix"

	"choiros/internal/sparse"
)

// The reserve is the space that content leaves free on the disk, so that the log, the
// bus and the control plane's own files can still be written: a twentieth of it, at
// most so many bytes. Small content, which goes through the write-ahead log, uses it.
const (
	reserveShare = 20
	mostReserve  = 256 << 20
)

// roomFor returns ENOSPC if size more bytes do not fit on the disk beside the reserve,
// else nil.
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
func (s *Store) RoomFor(size int64) error { return wrapErr("blob.room", s.roomFor(size), s.dir) }

// checkRoomEvery is the number of bytes written between two checks of free space.
const checkRoomEvery = 4 << 20

// longWriter writes content of unknown length and checks regularly that the disk has
// room.
type longWriter struct {
	store *Store
	file  *sparse.Writer
	room  int64 // bytes that may be written until the next look
}

// Write implements io.Writer.
func (w *longWriter) Write(b []byte) (int, error) {
	if w.room -= int64(len(b)); w.room < 0 {
		w.room = checkRoomEvery
		if err := w.store.roomFor(checkRoomEvery); err != nil {
			return 0, err
		}
	}
	return w.file.Write(b)
}
