package computer

import (
	"bytes"
	"testing"

	"choiros/internal/choir"
)

func put(content []byte, size, offset int64, chunk []byte) choir.BlobPutRequest {
	return choir.BlobPutRequest{Digest: choir.DigestOf(content), Size: size, Offset: offset, Chunk: chunk}
}

func TestChunksBecomeTheWhole(t *testing.T) {
	var u uploads
	for _, content := range [][]byte{nil, []byte("x"), bytes.Repeat([]byte("abc"), 1000)} {
		key := uploadKey{"c", choir.DigestOf(content)}
		var got []byte
		done := false
		for offset := 0; !done; {
			chunk := content[offset:min(offset+1000, len(content))]
			var err error
			if got, done, err = u.add(key, put(content, int64(len(content)), int64(offset), chunk)); err != nil {
				t.Fatal(err)
			}
			offset = len(got)
		}
		if !bytes.Equal(got, content) || u.bytes != 0 || len(u.open) != 0 || len(u.order) != 0 {
			t.Errorf("%d bytes became %d; %d are held", len(content), len(got), u.bytes)
		}
	}
}

func TestAbandonedUploadsKeepNobodyOut(t *testing.T) {
	u := uploads{most: 16 << 20}
	big := make([]byte, choir.BlobChunk)
	size := int64(u.most)
	for i := range 2 * maxUploads {
		key := uploadKey{"hoarder", choir.Digest(num(int64(i)))}
		for offset := int64(0); offset < size/8; offset += int64(len(big)) {
			if _, _, err := u.add(key, put(nil, size, offset, big)); err != nil {
				t.Fatal(err)
			}
		}
		if u.bytes > u.most || len(u.order) > maxUploads || len(u.order) != len(u.open) {
			t.Fatalf("%d bytes in %d uploads are held", u.bytes, len(u.open))
		}
	}
	if _, done, err := u.add(uploadKey{"other", "x"}, put(nil, 1, 0, []byte("x"))); err != nil || !done {
		t.Errorf("another one: %v", err)
	}
	for name, r := range map[string]choir.BlobPutRequest{
		"more than announced": put(nil, 1, 0, []byte("xy")), "too large": put(nil, size+1, 0, nil),
	} {
		if _, _, err := u.add(uploadKey{"other", "x"}, r); choir.CodeOf(err) != choir.CodeTooLarge {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got, done, err := u.add(uploadKey{"other", "y"}, put(nil, 10, 5, []byte("x"))); err != nil || done || len(got) != 0 {
		t.Errorf("a chunk without a beginning: %q %v %v", got, done, err)
	}
}
