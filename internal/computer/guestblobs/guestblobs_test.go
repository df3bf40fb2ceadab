package guestblobs

import (
	"bytes"
	"context"
	"strconv"
	"testing"
	"time"

	"go.uber.org/goleak"

	"choiros/internal/blob/mem"
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
		key := uploadKey{"hoarder", choir.Digest(strconv.Itoa(i))}
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

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// send puts content in chunks, and reports what the store said at the end.
func send(ctx context.Context, b *Blobs, who choir.Caller, content []byte) (choir.BlobPutReply, error) {
	var last choir.BlobPutReply
	for !last.Done {
		rest := content[last.Next:]
		var err error
		if last, err = b.Put(ctx, who, put(content, int64(len(content)), last.Next, rest[:min(len(rest), choir.BlobChunk)])); err != nil {
			return last, err
		}
	}
	return last, nil
}

func TestWhatIsSentInChunksIsReadInChunks(t *testing.T) {
	t.Parallel()
	b, content := New(mem.New(mem.Config{})), bytes.Repeat([]byte("abc"), choir.BlobChunk/2)
	if _, err := send(t.Context(), b, choir.Caller{Connection: "c"}, content); err != nil {
		t.Fatal(err)
	}
	var got []byte
	for int64(len(got)) < int64(len(content)) {
		r, err := b.Get(t.Context(), choir.BlobGetRequest{Digest: choir.DigestOf(content), Offset: int64(len(got))})
		if err != nil || r.Size != int64(len(content)) || len(r.Chunk) == 0 || len(r.Chunk) > choir.BlobChunk {
			t.Fatalf("at %d of %d: %d bytes of %d, %v", len(got), len(content), len(r.Chunk), r.Size, err)
		}
		got = append(got, r.Chunk...)
	}
	if !bytes.Equal(got, content) {
		t.Error("it is not what was sent")
	}
	if _, err := b.Get(t.Context(), choir.BlobGetRequest{Digest: choir.DigestOf(content), Offset: int64(len(content)) + 1}); choir.CodeOf(err) != choir.CodeInvalid {
		t.Errorf("behind the end: %v", err)
	}
	if _, err := b.Get(t.Context(), choir.BlobGetRequest{Digest: choir.DigestOf([]byte("else"))}); choir.CodeOf(err) != choir.CodeNotFound {
		t.Errorf("another blob: %v", err)
	}
}

func TestContentUnderAnothersDigestIsNotKept(t *testing.T) {
	t.Parallel()
	store := mem.New(mem.Config{})
	b, digest := New(store), choir.DigestOf([]byte("right"))
	_, err := b.Put(t.Context(), choir.Caller{}, choir.BlobPutRequest{Digest: digest, Size: 5, Chunk: []byte("wrong")})
	if choir.CodeOf(err) != choir.CodeInvalid {
		t.Errorf("%v", err)
	}
	if _, err := store.Size(t.Context(), digest); choir.CodeOf(err) != choir.CodeNotFound {
		t.Errorf("the store has it: %v", err)
	}
}

// TestWhatIsThereIsNotSentAgainAndNotCollected: a blob that is there already is done at
// its first chunk, and is as fresh as one that was sent.
func TestWhatIsThereIsNotSentAgainAndNotCollected(t *testing.T) {
	t.Parallel()
	now := time.Now()
	store := mem.New(mem.Config{Now: func() time.Time { return now }})
	b, content := New(store), []byte("content")
	if _, err := send(t.Context(), b, choir.Caller{}, content); err != nil {
		t.Fatal(err)
	}
	now = now.Add(time.Hour)
	if r, err := b.Put(t.Context(), choir.Caller{}, put(content, int64(len(content)), 0, nil)); err != nil || !r.Done {
		t.Errorf("%+v, %v", r, err)
	}
	if gone, err := store.Remove(t.Context(), choir.DigestOf(content), now); gone || err != nil {
		t.Errorf("removed: %v, %v", gone, err)
	}
}
