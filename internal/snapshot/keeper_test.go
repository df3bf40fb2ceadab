package snapshot

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"choiros/internal/blob"
	"choiros/internal/choir"
)

// content is a file's object.
func content(text string) Object {
	return Object{Digest: choir.DigestOf([]byte(text)), Size: int64(len(text)), Content: []byte(text)}
}

// manifest is a folder's object, as a guest that says anything would make it.
func manifest(entries ...Entry) Object {
	raw := (&Manifest{Mode: 0o755, Entries: entries}).Encode()
	return Object{Digest: choir.DigestOf(raw), Manifest: true, Size: int64(len(raw)), Content: raw}
}

func sum(t *testing.T, o Object) Sum {
	t.Helper()
	s, ok := o.Digest.Bytes()
	if !ok {
		t.Fatalf("%q is no digest", o.Digest)
	}
	return s
}

func begin(t *testing.T, k *Keeper) *Intake {
	t.Helper()
	in, err := k.NewIntake(context.Background())
	must(t, err)
	t.Cleanup(in.Discard)
	return in
}

func TestKeeperRefusesWhatIsNotItsDigest(t *testing.T) {
	ctx := context.Background()
	in := begin(t, newKeeper(t))
	lie := content("truth")
	lie.Content = []byte("other")
	wantCode(t, in.Add(ctx, lie), choir.CodeCorrupt)
	lie.Content, lie.Open = nil, func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("other")), nil }
	wantCode(t, in.Add(ctx, lie), choir.CodeCorrupt)
	wantCode(t, in.Add(ctx, Object{Digest: "x"}), choir.CodeInvalid)
	bad := manifest(Entry{Name: "..", Kind: Dir})
	wantCode(t, in.Add(ctx, bad), choir.CodeInvalid)
}

func TestKeeperNeedsWhatLacks(t *testing.T) {
	ctx, k := context.Background(), newKeeper(t)
	in := begin(t, k)
	a, b := content("a"), content("bb")
	sub := manifest(Entry{Name: "b", Kind: File, Size: 2, Sum: sum(t, b)})
	root := manifest(
		Entry{Name: "a", Kind: File, Size: 1, Sum: sum(t, a)},
		Entry{Name: "x", Kind: Dir, Sum: sum(t, sub)},
		Entry{Name: "y", Kind: Dir, Sum: sum(t, sub)})
	need := func(want ...choir.Digest) {
		t.Helper()
		got, err := in.Need(ctx, root.Digest, 100)
		must(t, err)
		if len(got) != len(want) {
			t.Fatalf("need %v, want %v", got, want)
		}
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("need %v, want %v", got, want)
			}
		}
	}
	need(root.Digest)
	must(t, in.Add(ctx, root))
	need(a.Digest, sub.Digest)
	must(t, in.Add(ctx, sub))
	need(a.Digest, b.Digest)
	must(t, in.Add(ctx, a))
	if _, _, err := in.Commit(ctx, root.Digest); choir.CodeOf(err) != choir.CodeConflict {
		t.Fatalf("an incomplete tree was committed: %v", err)
	}
	must(t, in.Add(ctx, b))
	need()
	files, bytes, err := in.Commit(ctx, root.Digest)
	if err != nil || files != 3 || bytes != 5 {
		t.Fatalf("%d files, %d bytes, %v", files, bytes, err)
	}
	other := NewKeeper(k.store) // that remembers nothing
	if files, bytes, err = other.Verify(ctx, root.Digest); err != nil || files != 3 || bytes != 5 {
		t.Errorf("%d files, %d bytes, %v", files, bytes, err)
	}
}

// The moments of a project counted the objects of its repository: a checkpoint doubled its files.
func TestTheWorkIsCountedWithoutWhatIsGits(t *testing.T) {
	ctx, k := context.Background(), newKeeper(t)
	in := begin(t, k)
	a, object := content("a"), content("object")
	objects := manifest(Entry{Name: "o", Kind: File, Size: 6, Sum: sum(t, object)})
	git := manifest(Entry{Name: ".git", Kind: Dir, Sum: sum(t, objects)}, Entry{Name: "objects", Kind: Dir, Sum: sum(t, objects)})
	project := manifest(
		Entry{Name: ".git", Kind: Dir, Sum: sum(t, git)},
		Entry{Name: "a", Kind: File, Size: 1, Sum: sum(t, a)})
	root := manifest(Entry{Name: "p", Kind: Dir, Sum: sum(t, project)}, Entry{Name: "q", Kind: Dir, Sum: sum(t, objects)})
	for _, o := range []Object{objects, git, project, root, a, object} {
		must(t, in.Add(ctx, o))
	}
	if files, bytes, err := in.Commit(ctx, root.Digest); err != nil || files != 4 || bytes != 19 {
		t.Fatalf("%d files, %d bytes, %v", files, bytes, err)
	}
	for name, k := range map[string]*Keeper{"the one that stored it": k, "one that remembers nothing": NewKeeper(k.store)} {
		if files, bytes, err := k.VerifyWork(ctx, root.Digest); err != nil || files != 2 || bytes != 7 {
			t.Errorf("%s: %d files, %d bytes, %v", name, files, bytes, err)
		}
	}
}

// A tree whose second folder lacks what the first lacks too was once taken for
// complete.
func TestTwoFoldersThatLackTheSameAreBothIncomplete(t *testing.T) {
	ctx := context.Background()
	in := begin(t, newKeeper(t))
	missing := content("missing")
	e := Entry{Name: "m", Kind: File, Size: 7, Sum: sum(t, missing)}
	one, two := manifest(e), manifest(e, Entry{Name: "n", Kind: Fifo})
	root := manifest(Entry{Name: "1", Kind: Dir, Sum: sum(t, one)}, Entry{Name: "2", Kind: Dir, Sum: sum(t, two)})
	for _, o := range []Object{one, two, root} {
		must(t, in.Add(ctx, o))
	}
	for range 2 {
		got, err := in.Need(ctx, root.Digest, 100)
		must(t, err)
		if len(got) != 1 || got[0] != missing.Digest {
			t.Fatalf("need %v", got)
		}
	}
	got, err := in.Need(ctx, two.Digest, 100)
	if err != nil || len(got) != 1 {
		t.Errorf("the second folder needs %v, %v", got, err)
	}
}

func TestKeeperRefusesTreesThatCannotBe(t *testing.T) {
	ctx := context.Background()
	in := begin(t, newKeeper(t))
	a := content("a")
	must(t, in.Add(ctx, a))
	wrong := manifest(Entry{Name: "dir", Kind: File, Size: 2, Sum: sum(t, a)})
	outer := manifest(Entry{Name: "x", Kind: Dir, Sum: sum(t, wrong)})
	must(t, in.Add(ctx, wrong))
	must(t, in.Add(ctx, outer))
	_, err := in.Need(ctx, outer.Digest, 10)
	var e *choir.Error
	if !errors.As(err, &e) || e.Code != choir.CodeInvalid || e.Path != "x/dir" {
		t.Errorf("a wrong size gives %v", err)
	}
	// Each folder holds the one before twice: 2^40 paths in 40 small manifests.
	level := manifest(Entry{Name: "f", Kind: File, Size: 1, Sum: sum(t, a)})
	for range 40 {
		must(t, in.Add(ctx, level))
		level = manifest(Entry{Name: "a", Kind: Dir, Sum: sum(t, level)}, Entry{Name: "b", Kind: Dir, Sum: sum(t, level)})
	}
	must(t, in.Add(ctx, level))
	_, err = in.Need(ctx, level.Digest, 10)
	wantCode(t, err, choir.CodeTooLarge)
	deep := manifest()
	for range MaxDepth + 1 {
		must(t, in.Add(ctx, deep))
		deep = manifest(Entry{Name: "d", Kind: Dir, Sum: sum(t, deep)})
	}
	must(t, in.Add(ctx, deep))
	_, err = in.Need(ctx, deep.Digest, 10)
	wantCode(t, err, choir.CodeTooLarge)
}

func TestKeeperWithoutBatches(t *testing.T) {
	k := newKeeper(t)
	k.store = struct{ blob.Store }{k.store}
	s := NewScanner(t.TempDir(), ScanConfig{})
	write(t, s.path, "d/a", "1")
	if r := keep(t, s, k); r.Files != 1 {
		t.Errorf("got %+v", r)
	}
}

func TestRecentForgetsTheLeastUsed(t *testing.T) {
	r := newRecent[int](10)
	r.put(Sum{200}, 1)
	for i := range 100 {
		r.put(Sum{byte(i)}, i)
		if _, ok := r.get(Sum{200}); !ok {
			t.Fatal("what is used is forgotten")
		}
	}
	if len(r.young)+len(r.old) > 20 {
		t.Errorf("it remembers %d", len(r.young)+len(r.old))
	}
	if _, ok := r.get(Sum{1}); ok {
		t.Error("what is not used is remembered")
	}
}
