// Package blobtest is the conformance suite of blob.Store.
package blobtest

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"choiros/internal/blob"
	"choiros/internal/choir"
)

// Run holds a store against the contract. Each call of open gives an empty one.
// A store with an optional power (Batcher, Collector, Linker, Piecer, Roomer) is held
// against the contract of that power as well.
func Run(t *testing.T, open func(t *testing.T) blob.Store) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, blob.Store){
		"WhatIsPutIsRead":             whatIsPutIsRead,
		"PuttingTwiceIsNoError":       puttingTwice,
		"WhatIsAbsentIsNotFound":      absent,
		"AMalformedDigestIsRefused":   malformed,
		"ManyPutAtOnce":               manyAtOnce,
		"ACancelledPutStoresNothing":  cancelled,
		"ReadAllRefusesWhatIsTooLong": tooLong,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
	runPowers(t, open)
	if _, ok := open(t).(blob.Batcher); !ok {
		return
	}
	for name, test := range map[string]func(*testing.T, blob.Store, blob.Batch){
		"ABatchIsThereAfterCommit":      batchCommit,
		"ABatchRefusesTheWrongDigest":   batchWrongDigest,
		"ADiscardedBatchLeavesNothing":  batchDiscard,
		"ABatchTakesTheSameTwice":       batchTwice,
		"AnEmptyBatchCommits":           func(t *testing.T, _ blob.Store, b blob.Batch) { check(t, b.Commit()) },
		"DiscardAfterCommitKeepsItAll":  batchDiscardAfterCommit,
		"ABatchWithWhatIsThereIsNoOdds": batchOfKnown,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			b, err := s.(blob.Batcher).Batch(context.Background())
			check(t, err)
			test(t, s, b)
		})
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantCode(t *testing.T, err error, code choir.Code) {
	t.Helper()
	if choir.CodeOf(err) != code {
		t.Errorf("got %v, wanted code %s", err, code)
	}
}

func put(t *testing.T, s blob.Store, content string) choir.Digest {
	t.Helper()
	d, n, err := s.Put(context.Background(), strings.NewReader(content))
	check(t, err)
	if d != choir.DigestOf([]byte(content)) || n != int64(len(content)) {
		t.Errorf("put %d bytes, got digest %s and size %d", len(content), d, n)
	}
	return d
}

func wantContent(t *testing.T, s blob.Store, content string) {
	t.Helper()
	d := choir.DigestOf([]byte(content))
	size, err := s.Size(context.Background(), d)
	check(t, err)
	got, err := blob.ReadAll(context.Background(), s, d, 1<<30)
	check(t, err)
	if string(got) != content || size != int64(len(content)) {
		t.Errorf("read %d bytes (size %d) of %d", len(got), size, len(content))
	}
}

func whatIsPutIsRead(t *testing.T, s blob.Store) {
	for _, content := range []string{"", "x", "two\x00words", strings.Repeat("long ", 500_000)} {
		put(t, s, content)
		wantContent(t, s, content)
	}
}

func puttingTwice(t *testing.T, s blob.Store) {
	put(t, s, "again")
	put(t, s, "again")
	wantContent(t, s, "again")
}

func absent(t *testing.T, s blob.Store) {
	d := choir.DigestOf([]byte("never put"))
	_, err := s.Open(context.Background(), d)
	wantCode(t, err, choir.CodeNotFound)
	_, err = s.Size(context.Background(), d)
	wantCode(t, err, choir.CodeNotFound)
}

func malformed(t *testing.T, s blob.Store) {
	for _, d := range []choir.Digest{"", "ab", "../../etc/passwd", choir.Digest(strings.Repeat("A", 64))} {
		_, err := s.Open(context.Background(), d)
		wantCode(t, err, choir.CodeInvalid)
		_, err = s.Size(context.Background(), d)
		wantCode(t, err, choir.CodeInvalid)
	}
}

func manyAtOnce(t *testing.T, s blob.Store) {
	var wg sync.WaitGroup
	for i := range 32 {
		wg.Go(func() {
			content := fmt.Sprint("content ", i%8)
			if _, _, err := s.Put(context.Background(), strings.NewReader(content)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for i := range 8 {
		wantContent(t, s, fmt.Sprint("content ", i))
	}
}

func cancelled(t *testing.T, s blob.Store) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, _, err := s.Put(ctx, strings.NewReader("too late"))
	wantCode(t, err, choir.CodeCancelled)
	_, err = s.Size(context.Background(), choir.DigestOf([]byte("too late")))
	wantCode(t, err, choir.CodeNotFound)
}

func tooLong(t *testing.T, s blob.Store) {
	d := put(t, s, "four")
	_, err := blob.ReadAll(context.Background(), s, d, 3)
	wantCode(t, err, choir.CodeTooLarge)
}

func contents(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("piece %d %s", i, bytes.Repeat([]byte("."), i))
	}
	return out
}

func batchCommit(t *testing.T, s blob.Store, b blob.Batch) {
	for _, c := range contents(100) {
		check(t, b.Add(choir.DigestOf([]byte(c)), []byte(c)))
	}
	check(t, b.Commit())
	for _, c := range contents(100) {
		wantContent(t, s, c)
	}
}

func batchWrongDigest(t *testing.T, s blob.Store, b blob.Batch) {
	wantCode(t, b.Add(choir.DigestOf([]byte("one")), []byte("two")), choir.CodeCorrupt)
	check(t, b.Add(choir.DigestOf([]byte("three")), []byte("three")))
	check(t, b.Commit())
	wantContent(t, s, "three")
	_, err := s.Size(context.Background(), choir.DigestOf([]byte("two")))
	wantCode(t, err, choir.CodeNotFound)
}

func batchDiscard(t *testing.T, s blob.Store, b blob.Batch) {
	check(t, b.Add(choir.DigestOf([]byte("gone")), []byte("gone")))
	b.Discard()
	_, err := s.Size(context.Background(), choir.DigestOf([]byte("gone")))
	wantCode(t, err, choir.CodeNotFound)
}

func batchTwice(t *testing.T, s blob.Store, b blob.Batch) {
	for range 2 {
		check(t, b.Add(choir.DigestOf([]byte("same")), []byte("same")))
	}
	check(t, b.Commit())
	wantContent(t, s, "same")
}

func batchDiscardAfterCommit(t *testing.T, s blob.Store, b blob.Batch) {
	check(t, b.Add(choir.DigestOf([]byte("kept")), []byte("kept")))
	check(t, b.Commit())
	b.Discard()
	wantContent(t, s, "kept")
}

func batchOfKnown(t *testing.T, s blob.Store, b blob.Batch) {
	put(t, s, "known")
	for _, c := range []string{"known", "new"} {
		check(t, b.Add(choir.DigestOf([]byte(c)), []byte(c)))
	}
	check(t, b.Commit())
	wantContent(t, s, "known")
	wantContent(t, s, "new")
}
