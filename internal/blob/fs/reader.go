package fs

import (
	"hash"
	"io"
	"os"

	"choiros/internal/choir"
)

// checkedReader hashes the content it reads and fails at the end when the digest
// differs from the name. The store then accepts that content again.
type checkedReader struct {
	store *Store
	file  *os.File
	want  choir.Digest
	hash  hash.Hash
}

func (r *checkedReader) Read(p []byte) (int, error) {
	n, err := r.file.Read(p)
	r.hash.Write(p[:n])
	if err == io.EOF && choir.DigestFrom([32]byte(r.hash.Sum(nil))) != r.want {
		r.store.damaged.Store(r.want, true)
		return n, errDamaged("blob.read", r.want)
	}
	return n, err
}

func errDamaged(op string, d choir.Digest) error {
	return choir.E(op, choir.CodeCorrupt, "blob %s is damaged", d).
		WithRemedy("restore it from a backup, or put the content again")
}

func (r *checkedReader) Close() error { return r.file.Close() }
