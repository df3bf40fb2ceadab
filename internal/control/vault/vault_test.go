package vault

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/control/egress"
	keyvault "choiros/internal/keyring/vault"
)

// bound is a binding for git.
func bound(change func(*choir.VaultBinding)) choir.VaultBinding {
	b := choir.VaultBinding{Use: choir.VaultForGit, Host: "h.test", Port: 443, Paths: []string{"/me"}, Computer: "c", Project: "p", User: "me", Methods: []string{"fetch"}}
	change(&b)
	return b
}

func TestAKeyIsForWhatItIsBoundToAlone(t *testing.T) {
	right := Want{Use: choir.VaultForGit, Computer: "c", Project: "p", Action: "fetch", Target: egress.Target{Host: "h.test", Port: 443, Path: "/me/p.git"}}
	if b := bound(func(*choir.VaultBinding) {}); !fits(b, right) {
		t.Fatal("it does not fit what it is bound to")
	}
	for name, change := range map[string]func(*Want){
		"another use":        func(w *Want) { w.Use = choir.VaultForHeader },
		"another computer":   func(w *Want) { w.Computer = "d" },
		"another project":    func(w *Want) { w.Project = "" },
		"another action":     func(w *Want) { w.Action = "push" },
		"a name below":       func(w *Want) { w.Target.Host = "x.h.test" },
		"another port":       func(w *Want) { w.Target.Port = 8443 },
		"a path beside":      func(w *Want) { w.Target.Path = "/meandyou/p.git" },
		"a path above":       func(w *Want) { w.Target.Path = "/" },
		"a path that climbs": func(w *Want) { w.Target.Path = "/me/../you" },
		"an escaped path":    func(w *Want) { w.Target.Path = "/me/%2e%2e/you" },
	} {
		wrong := right
		change(&wrong)
		if fits(bound(func(*choir.VaultBinding) {}), wrong) {
			t.Errorf("%s fits: %+v", name, wrong)
		}
	}
}

func TestABindingThatCannotBeHeldIsRefused(t *testing.T) {
	header := func(change func(*choir.VaultBinding)) func(*choir.VaultBinding) {
		return func(b *choir.VaultBinding) {
			*b = choir.VaultBinding{Use: choir.VaultForHeader, Host: "h.test", Computer: "c", Header: "X-Key"}
			change(b)
		}
	}
	for at, change := range map[string]func(*choir.VaultBinding){
		"host":           func(b *choir.VaultBinding) { b.Host = "*.test" },
		"host ":          func(b *choir.VaultBinding) { b.Host = "h.test:80" },
		"paths":          func(b *choir.VaultBinding) { b.Paths = []string{"/", "/a%2f"} },
		"methods":        func(b *choir.VaultBinding) { b.Methods = []string{"GET"} },
		"user":           func(b *choir.VaultBinding) { b.User = "a:b" },
		"project":        func(b *choir.VaultBinding) { b.Project = "../x" },
		"header":         func(b *choir.VaultBinding) { b.Header = "X" },
		"header ":        header(func(b *choir.VaultBinding) { b.Header = "Transfer-Encoding" }),
		"header  ":       header(func(b *choir.VaultBinding) { b.Header = "a b" }),
		"prefix":         header(func(b *choir.VaultBinding) { b.Prefix = "a\r\nb" }),
		"methods of all": header(func(b *choir.VaultBinding) { b.Methods = []string{"CONNECT"} }),
	} {
		b := bound(change)
		err := check(&b)
		if want, _, _ := strings.Cut(strings.TrimSpace(at), " "); choir.CodeOf(err) != choir.CodeInvalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", at, err)
		}
	}
	b := bound(header(func(*choir.VaultBinding) {}))
	if err := check(&b); err != nil || b.Port != 443 || len(b.Paths) != 1 || b.Paths[0] != "/" {
		t.Errorf("what has a default is %+v, %v", b, err)
	}
}

// quiet is a computer with a log in memory, and without requests.
type quiet struct {
	id   choir.ID
	said *[]choir.Payload
	fail error // of Append
}

func newQuiet(id choir.ID) quiet { return quiet{id: id, said: &[]choir.Payload{}} }

func (q quiet) ID() choir.ID { return q.id }

func (quiet) EndKey(string) {}

func (q quiet) Head() uint64 { return uint64(len(*q.said)) }

func (q quiet) Append(_ context.Context, _ choir.Role, payloads ...choir.Payload) ([]choir.Receipt, error) {
	if q.fail == nil {
		*q.said = append(*q.said, payloads...)
	}
	return nil, q.fail
}

func (q quiet) Events(_ context.Context, from uint64) iter.Seq2[choir.Event, error] {
	return func(yield func(choir.Event, error) bool) {
		for i, p := range *q.said {
			raw, err := json.Marshal(p)
			if uint64(i+1) >= from && !yield(choir.Event{Type: p.EventType(), Payload: raw}, err) {
				return
			}
		}
	}
}

// TestAChangeIsToldOnce has a log take no event when a key is set, set anew and removed, and holds
// that what the vault has is in it as soon as it takes one, and once.
func TestAChangeIsToldOnce(t *testing.T) {
	v := New(keyvault.New(filepath.Join(t.TempDir(), "keys"), time.Now))
	c := newQuiet("c")
	full := c
	full.fail = errors.New("the disk is full")
	set := func(c quiet, host string) error {
		_, err := v.Set(t.Context(), c, choir.RoleCLI, "forge", "a-long-key", choir.VaultBinding{Use: choir.VaultForHeader, Host: host, Header: "X-Key", Computer: "c"})
		return err
	}
	recorded := func(want ...string) {
		t.Helper()
		var got []string
		for range 2 {
			if err := v.RecordUntold(t.Context(), c); err != nil {
				t.Fatal(err)
			}
		}
		for _, p := range *c.said {
			switch p := p.(type) {
			case choir.VaultSet:
				got = append(got, p.Bound.Host)
			case choir.VaultRemoved:
				got = append(got, "removed")
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("the log says %q, not %q", got, want)
		}
	}
	if err := set(full, "a.test"); err == nil {
		t.Error("a log that took no event is none")
	}
	if err := set(full, "b.test"); err == nil {
		t.Error("a log that takes no event takes another change")
	}
	recorded("a.test")
	if err := set(c, "b.test"); err != nil {
		t.Fatal(err)
	}
	recorded("a.test", "b.test")
	if err := v.Remove(t.Context(), full, choir.RoleCLI, "forge"); err == nil {
		t.Error("a log that took no event is none")
	}
	if err := v.RecordUntold(t.Context(), newQuiet("d")); err != nil {
		t.Fatal(err)
	}
	recorded("a.test", "b.test", "removed")
}

// TestTwoComputersCannotSetTheSameName has two computers keep keys of the same names at once: of
// each name one is refused, and the other's key stays what it is.
func TestTwoComputersCannotSetTheSameName(t *testing.T) {
	v := New(keyvault.New(filepath.Join(t.TempDir(), "keys"), time.Now))
	for i := range 5 {
		name := "forge-" + string(rune('a'+i))
		errs := make(chan error, 2)
		for _, computer := range []choir.ID{"c", "d"} {
			go func() {
				b := choir.VaultBinding{Use: choir.VaultForHeader, Host: "h.test", Header: "X-Key", Computer: computer}
				_, err := v.Set(t.Context(), newQuiet(computer), choir.RoleCLI, name, "a-long-key-of-"+string(computer), b)
				if err != nil {
					err = errors.Join(err, v.Remove(t.Context(), newQuiet(computer), choir.RoleCLI, name))
				}
				errs <- err
			}()
		}
		a, b := <-errs, <-errs
		if (a == nil) == (b == nil) {
			t.Fatalf("%s: %v and %v", name, a, b)
		}
		if err := errors.Join(a, b); choir.CodeOf(err) != choir.CodeConflict && !strings.Contains(err.Error(), "another computer") {
			t.Errorf("%s: %v", name, err)
		}
	}
	c, err := v.List(t.Context(), "c")
	d, err2 := v.List(t.Context(), "d")
	if len(c)+len(d) != 5 || err != nil || err2 != nil {
		t.Errorf("%+v and %+v, %v, %v", c, d, err, err2)
	}
}
