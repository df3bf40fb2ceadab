package mem_test

import (
	"context"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"choiros/internal/blob"
	"choiros/internal/blob/blobtest"
	"choiros/internal/blob/mem"
	"choiros/internal/choir"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) {
	t.Parallel()
	blobtest.Run(t, func(*testing.T) blob.Store { return mem.New(mem.Config{}) })
}

func put(t *testing.T, s *mem.Store, content string) choir.Digest {
	t.Helper()
	d, _, err := s.Put(t.Context(), strings.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestAFullStoreTakesNothingOfIt fills a store and removes something again.
func TestAFullStoreTakesNothingOfIt(t *testing.T) {
	t.Parallel()
	now := time.Unix(1, 0)
	s := mem.New(mem.Config{Limit: 10, Now: func() time.Time { return now }})
	first := put(t, s, "123456")
	if _, _, err := s.Put(t.Context(), strings.NewReader("78901")); choir.CodeOf(err) != choir.CodeNoSpace {
		t.Errorf("over the limit: %v", err)
	}
	put(t, s, "123456") // takes no more room
	b, err := s.Batch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []string{"ab", "cde"} {
		if err := b.Add(choir.DigestOf([]byte(c)), []byte(c)); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Commit(); choir.CodeOf(err) != choir.CodeNoSpace {
		t.Errorf("a batch over the limit: %v", err)
	}
	if _, err := s.Size(t.Context(), choir.DigestOf([]byte("ab"))); choir.CodeOf(err) != choir.CodeNotFound {
		t.Errorf("half of the batch is there: %v", err)
	}
	if err := s.RoomFor(5); choir.CodeOf(err) != choir.CodeNoSpace || s.RoomFor(4) != nil {
		t.Errorf("room for 5: %v; for 4: %v", err, s.RoomFor(4))
	}
	if gone, err := s.Remove(t.Context(), first, now.Add(time.Second)); !gone || err != nil {
		t.Fatalf("removed %v, %v", gone, err)
	}
	put(t, s, "0123456789")
}

// TestDamagedContentIsRefusedUntilItIsPutAgain reads content that was changed.
func TestDamagedContentIsRefusedUntilItIsPutAgain(t *testing.T) {
	t.Parallel()
	s := mem.New(mem.Config{})
	for _, content := range []string{"", "content"} {
		d := put(t, s, content)
		if err := s.Damage(d); err != nil {
			t.Fatal(err)
		}
		r, err := s.Open(t.Context(), d)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(r); choir.CodeOf(err) != choir.CodeCorrupt {
			t.Errorf("%q: %v", content, err)
		}
		r.Close()
		put(t, s, content)
		if got, err := blob.ReadAll(t.Context(), s, d, 10); string(got) != content || err != nil {
			t.Errorf("%q: %q, %v", content, got, err)
		}
	}
	if err := s.Damage(choir.DigestOf([]byte("none"))); choir.CodeOf(err) != choir.CodeNotFound {
		t.Errorf("damage of nothing: %v", err)
	}
}

// TestEveryMethodAtOnce is for the race detector.
func TestEveryMethodAtOnce(t *testing.T) {
	t.Parallel()
	s, other := mem.New(mem.Config{Limit: 1 << 20}), mem.New(mem.Config{})
	d := put(t, other, "shared")
	ctx := context.Background()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				if err := blob.Transfer(ctx, other, s, []choir.Digest{d}); err != nil {
					t.Error(err)
				}
				_ = s.Touch(ctx, d) // it may be gone
				_, _ = s.Size(ctx, d)
				_, _ = s.OpenAt(ctx, d, 3)
				_ = s.RoomFor(1)
				if err := s.Each(ctx, func(blob.Info) error { return nil }); err != nil {
					t.Error(err)
				}
				if _, err := s.Remove(ctx, d, time.Now().Add(time.Hour)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if got, err := blob.ReadAll(ctx, other, d, 10); string(got) != "shared" || err != nil {
		t.Errorf("after it was removed from the other store: %q, %v", got, err)
	}
}
