// Package keyringtest is the test suite for implementations of keyring.Keyring.
package keyringtest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/keyring"
)

// Run runs the suite. open returns the same keyring at each call, opened anew; it is empty at
// first.
func Run(t *testing.T, open func(t *testing.T) keyring.Keyring) {
	t.Run("sweep", func(t *testing.T) { sweeps(t, open(t)) })
	t.Run("put, read, replace, delete", func(t *testing.T) { keeps(t, open) })
	t.Run("refusals hold no key", func(t *testing.T) { refuses(t, open(t)) })
	t.Run("many at once", func(t *testing.T) { many(t, open(t)) })
}

func keeps(t *testing.T, open func(t *testing.T) keyring.Keyring) {
	ctx, k := t.Context(), open(t)
	if _, err := k.Read(ctx, "one"); choir.CodeOf(err) != choir.CodeNotFound {
		t.Errorf("a key that is not there: %v", err)
	}
	for _, key := range []string{"sk-first", "sk-second"} {
		if err := k.Put(ctx, "one", key); err != nil {
			t.Fatal(err)
		}
		k = open(t) // what was put is there after a restart
		if got, err := k.Read(ctx, "one"); err != nil || got != key {
			t.Errorf("read %q, %v; put %q", got, err, key)
		}
	}
	if d := k.Describe(ctx, "one"); d.Err != nil || d.Where == "" || d.SetAt == 0 || strings.Contains(d.Where, "sk-") {
		t.Errorf("the description is %+v", d)
	}
	if err := k.Put(ctx, "another.example", "sk-third"); err != nil {
		t.Fatal(err)
	}
	if names, err := k.Names(ctx); err != nil || !slices.Equal(names, []string{"another.example", "one"}) {
		t.Errorf("names %v: %v", names, err)
	}
	for range 2 { // the second time it is not there
		if err := k.Delete(ctx, "one"); err != nil {
			t.Fatal(err)
		}
	}
	if names, err := open(t).Names(ctx); err != nil || !slices.Equal(names, []string{"another.example"}) {
		t.Errorf("names %v after a deletion: %v", names, err)
	}
	if d := k.Describe(ctx, "one"); choir.CodeOf(d.Err) != choir.CodeNotFound {
		t.Errorf("the description of a deleted key is %+v", d)
	}
}

func sweeps(t *testing.T, k keyring.Keyring) {
	ctx := t.Context()
	if err := k.Sweep(ctx, nil); err != nil {
		t.Fatalf("an empty keyring: %v", err)
	}
	for _, name := range []string{"stays", "goes"} {
		if err := k.Put(ctx, name, "sk-"+name); err != nil {
			t.Fatal(err)
		}
	}
	if err := k.Sweep(ctx, []string{"stays", "never.was"}); err != nil {
		t.Fatal(err)
	}
	if names, err := k.Names(ctx); err != nil || !slices.Equal(names, []string{"stays"}) {
		t.Errorf("names %v: %v", names, err)
	}
	if err := k.Sweep(ctx, nil); err != nil {
		t.Fatal(err)
	}
}

func refuses(t *testing.T, k keyring.Keyring) {
	for _, c := range []struct{ name, key string }{
		{"../one", "sk-secret"}, {"", "sk-secret"}, {"One", "sk-secret"}, {strings.Repeat("a", 65), "sk-secret"},
		{"one", ""}, {"one", "sk-secret\r\nX-Other: 1"}, {"one", "sk-secret ä"}, {"one", strings.Repeat("sk-secret", keyring.MaxKey)},
	} {
		if err := k.Put(t.Context(), c.name, c.key); choir.CodeOf(err) != choir.CodeInvalid || strings.Contains(err.Error(), "sk-secret") {
			t.Errorf("%.20q with a key of %d bytes: %v", c.name, len(c.key), err)
		}
	}
	if _, err := k.Read(t.Context(), "../one"); choir.CodeOf(err) != choir.CodeInvalid {
		t.Errorf("a name that leads elsewhere is read: %v", err)
	}
	if err := k.Delete(t.Context(), "../one"); choir.CodeOf(err) != choir.CodeInvalid {
		t.Errorf("a name that leads elsewhere is deleted: %v", err)
	}
}

func many(t *testing.T, k keyring.Keyring) {
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			name := fmt.Sprint("many-", i%4)
			if err := k.Put(t.Context(), name, "sk-of-"+name); err != nil {
				t.Error(err)
			}
			if got, err := k.Read(t.Context(), name); err != nil || got != "sk-of-"+name {
				t.Errorf("read %q: %v", got, err)
			}
		})
	}
	all.Wait()
}
