package blobtest

import (
	"context"
	"io"
	"testing"
	"time"

	"choiros/internal/blob"
	"choiros/internal/choir"
)

// runPowers holds a store against the contracts of the optional powers that it
// has, but for Batcher.
func runPowers(t *testing.T, open func(t *testing.T) blob.Store) {
	t.Helper()
	s := open(t)
	run := func(name string, has bool, test func(*testing.T)) {
		if has {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				test(t)
			})
		}
	}
	_, piecer := s.(blob.Piecer)
	run("APieceIsReadFromItsOffset", piecer, func(t *testing.T) { pieces(t, open(t)) })
	_, collector := s.(blob.Collector)
	run("WhatIsOldIsListedAndRemoved", collector, func(t *testing.T) { collect(t, open(t)) })
	_, linker := s.(blob.Linker)
	run("WhatIsSharedOutlivesEitherStore", linker, func(t *testing.T) { share(t, open(t), open(t)) })
	_, roomer := s.(blob.Roomer)
	run("ALittleRoomIsThere", roomer, func(t *testing.T) {
		check(t, open(t).(blob.Roomer).RoomFor(1))
	})
}

func pieces(t *testing.T, s blob.Store) {
	d, p := put(t, s, "0123456789"), s.(blob.Piecer)
	for offset, want := range map[int64]string{0: "0123456789", 7: "789", 10: "", 12: ""} {
		r, err := p.OpenAt(context.Background(), d, offset)
		check(t, err)
		got, err := io.ReadAll(r)
		check(t, err)
		if r.Close(); string(got) != want {
			t.Errorf("from %d: %q", offset, got)
		}
	}
	_, err := p.OpenAt(context.Background(), choir.DigestOf([]byte("none")), 0)
	wantCode(t, err, choir.CodeNotFound)
	_, err = p.OpenAt(context.Background(), "../x", 0)
	wantCode(t, err, choir.CodeInvalid)
}

// collect takes moments well before and after the test, so that the precision of a
// store's times plays no part.
func collect(t *testing.T, s blob.Store) {
	ctx, c := context.Background(), s.(blob.Collector)
	earlier, later := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	goes, stays := put(t, s, "goes"), put(t, s, "stays")
	seen := map[choir.Digest]blob.Info{}
	check(t, c.Each(ctx, func(i blob.Info) error { seen[i.Digest] = i; return nil }))
	if len(seen) != 2 || seen[goes].Size != 4 || !seen[stays].Put.After(earlier) || !seen[stays].Put.Before(later) {
		t.Errorf("it lists %v", seen)
	}
	stop := choir.E("blobtest", choir.CodeBusy, "enough")
	wantCode(t, c.Each(ctx, func(blob.Info) error { return stop }), choir.CodeBusy)
	for _, step := range []struct {
		d      choir.Digest
		before time.Time
		want   bool
	}{{goes, earlier, false}, {goes, later, true}, {goes, later, false}, {choir.DigestOf([]byte("none")), later, false}} {
		if gone, err := c.Remove(ctx, step.d, step.before); gone != step.want || err != nil {
			t.Errorf("%s before %s: removed %v, %v", step.d, step.before, gone, err)
		}
	}
	_, err := c.Remove(ctx, "x", later)
	wantCode(t, err, choir.CodeInvalid)
	_, err = s.Size(ctx, goes)
	wantCode(t, err, choir.CodeNotFound)
	wantCode(t, c.Touch(ctx, goes), choir.CodeNotFound)
	check(t, c.Touch(ctx, stays))
	put(t, s, "goes") // it can be put again
	wantContent(t, s, "goes")
	wantContent(t, s, "stays")
}

func share(t *testing.T, from, to blob.Store) {
	ctx := context.Background()
	d := put(t, from, "shared")
	for range 2 { // content that is there already is no error
		check(t, blob.Transfer(ctx, from, to, []choir.Digest{d}))
	}
	wantContent(t, to, "shared")
	wantCode(t, blob.Transfer(ctx, from, to, []choir.Digest{choir.DigestOf([]byte("none"))}), choir.CodeNotFound)
	// A store of another kind shares nothing; its content is copied.
	other := put(t, from, "copied")
	check(t, blob.Transfer(ctx, struct{ blob.Store }{from}, to, []choir.Digest{other}))
	wantContent(t, to, "copied")
	c, ok := from.(blob.Collector)
	if !ok {
		return
	}
	if gone, err := c.Remove(ctx, d, time.Now().Add(time.Hour)); !gone || err != nil {
		t.Fatalf("removed %v, %v", gone, err)
	}
	wantContent(t, to, "shared")
}
