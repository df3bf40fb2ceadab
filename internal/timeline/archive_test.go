package timeline

import (
	"archive/tar"
	"bytes"
	"context"
	"io"
	"testing"

	"choiros/internal/choir"
)

// nothing takes an archive up and keeps none of it.
type nothing struct{ bytes int64 }

func (n *nothing) Segment(_ string, content []byte) error {
	n.bytes += int64(len(content))
	return nil
}

func (n *nothing) Blob(_ context.Context, d choir.Digest, size int64, content io.Reader) error {
	if size == 1 {
		return nil // it is there already
	}
	raw, err := io.ReadAll(content)
	if err == nil && choir.DigestOf(raw) != d {
		panic("content came that is not what its digest says")
	}
	n.bytes += int64(len(raw))
	return err
}

// packed is an archive with a log of these bytes and some blobs, made by another
// writer of tar files.
func packed(t testing.TB, log string, blobs ...string) []byte {
	t.Helper()
	const id = "0198aaaa-0000-7000-8000-000000000001"
	content := map[string]string{"journal/00000000000000000001.seg": log}
	a := Archive{Format: 1, Computer: id, Name: "x", Seq: 1, Hash: choir.ZeroHash, Withheld: []Withheld{}, Absent: []choir.Digest{}}
	a.Members = []Member{{Path: "journal/00000000000000000001.seg", Size: int64(len(log)), SHA256: choir.DigestOf([]byte(log))}}
	for _, b := range blobs {
		d := choir.DigestOf([]byte(b))
		content[blobPath(d)] = b
		a.Members = append(a.Members, Member{blobPath(d), int64(len(b)), d})
	}
	raw, err := choir.Canonical(a)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	write := func(name, text string) {
		err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(text)), Mode: 0o600, Format: tar.FormatGNU})
		if err == nil {
			_, err = io.WriteString(w, text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	write(manifestPath(choir.DigestOf(raw)), string(raw))
	for _, m := range a.Members {
		write(m.Path, content[m.Path])
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func unpack(file []byte, into Taker) error {
	return Unpack(context.Background(), bytes.NewReader(file), func(Archive, choir.Digest) error { return nil }, into)
}

func TestUnpackGivesWhatWasPacked(t *testing.T) {
	t.Parallel()
	var n nothing
	if err := unpack(packed(t, "log"), &n); err != nil || n.bytes != 3 {
		t.Errorf("%d bytes, %v", n.bytes, err)
	}
	n = nothing{}
	if err := unpack(packed(t, "log", "y"), &n); err != nil || n.bytes != 3 {
		t.Errorf("a blob that is not read: %d bytes, %v", n.bytes, err)
	}
	bad := packed(t, "log", "y")
	bad[bytes.LastIndexByte(bad, 'y')] = 'z'
	if err := unpack(bad, &n); choir.CodeOf(err) != choir.CodeCorrupt {
		t.Errorf("a blob that is not read, and damaged: %v", err)
	}
}

// TestNoByteOfAnArchiveIsWithoutMeaning changes each byte of a small archive.
func TestNoByteOfAnArchiveIsWithoutMeaning(t *testing.T) {
	t.Parallel()
	file := packed(t, "log", "content")
	for at := range file {
		bad := bytes.Clone(file)
		bad[at] ^= 1 << (at % 8)
		if err := unpack(bad, &nothing{}); err == nil {
			t.Errorf("byte %d of %d was changed and nobody noticed", at, len(file))
		}
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add(packed(f, "log"))
	f.Add(packed(f, "log", "y", "z"))
	f.Add([]byte("hello"))
	f.Add(make([]byte, 4096))
	f.Fuzz(func(t *testing.T, file []byte) {
		var n nothing
		if err := unpack(file, &n); err != nil && choir.CodeOf(err) == choir.CodeInternal {
			t.Errorf("without a code: %v", err)
		}
		if n.bytes > int64(len(file)) {
			t.Errorf("%d bytes came out of %d", n.bytes, len(file))
		}
	})
}
