package supervisor

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/sandbox/sandboxtest"

	"crypto/rand"
)

// drawing is a source of randomness that makes these numbers be drawn.
func drawing(ids ...int) *bytes.Reader {
	var b []byte
	for _, id := range ids {
		b = binary.LittleEndian.AppendUint32(b, uint32(id-firstDrawnUID))
	}
	return bytes.NewReader(b)
}

func TestAHostUserIsNobodyElses(t *testing.T) {
	const a, b, c, d, e = firstDrawnUID, firstDrawnUID + 7, firstDrawnUID + 1000, firstDrawnUID + 1999, lastDrawnUID
	h := uidAllocator{
		named:    func(id int) (bool, error) { return id == a, nil },
		reserved: subordinate(strings.NewReader("# people\nalice:100000:65536\nbob:" + "2000201001:1000\nbroken\nx:y:z\n")),
	}
	for _, test := range []struct {
		name  string
		draws []int
		used  map[int]bool
		want  int
	}{
		{"a user of the host", []int{a, b}, nil, b},
		{"another computer's", []int{b, e}, map[int]bool{b: true}, e},
		{"the first of a range of a user's namespaces", []int{c, e}, nil, e},
		{"the last of it", []int{d, e}, nil, e},
		{"the one behind it", []int{d + 1}, nil, d + 1},
	} {
		h.random = drawing(test.draws...)
		if got, err := h.draw(test.used); err != nil || got != test.want {
			t.Errorf("%s: %d, %v", test.name, got, err)
		}
	}
	h.random = drawing(slices.Repeat([]int{a}, maxDraws)...)
	if got, err := h.draw(nil); choir.CodeOf(err) != choir.CodeUnavailable {
		t.Errorf("where all are taken: %d, %v", got, err)
	}
}

// TestThisHostIsAsked checks the lookup against users that every host has.
func TestThisHostIsAsked(t *testing.T) {
	h, err := newUIDAllocator(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[int]bool{0: true, os.Getuid(): true, lastDrawnUID: false} {
		if named, err := h.named(id); err != nil || named != want {
			t.Errorf("user %d has a name: %v, %v", id, named, err)
		}
	}
}

// TestAnOlderDataFolderKeepsTheAssociatesUser opens a folder whose computers
// have one host user for both sandboxes, two of them the same by chance.
func TestAnOlderDataFolderKeepsTheAssociatesUser(t *testing.T) {
	if !IsRoot() {
		t.Skip("an ordinary user's sandboxes have no users of their own")
	}
	data := sandboxtest.DataDir(t)
	now := time.Now()
	var old owner
	for _, uid := range []int{600_000, 700_000, 700_000} {
		id, err := choir.NewID(choir.TimeOf(now), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		old.User = id
		old.Computers = append(old.Computers, entry{ID: id, Name: string(id), HostUID: uid})
	}
	raw, err := json.Marshal(old)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(data, "owner.json"), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	var before []entry
	for range 2 {
		f, err := openFolder(data, time.Now, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.close(); err != nil {
			t.Fatal(err)
		}
		seen := map[int]bool{}
		for i, e := range f.owner.Computers {
			if e.HostUID != old.Computers[i].HostUID {
				t.Errorf("the workspace's user was %d and is %d", old.Computers[i].HostUID, e.HostUID)
			}
			if e.DirectorUID < firstDrawnUID || seen[e.DirectorUID] || e.DirectorUID == e.HostUID {
				t.Errorf("the Director's user is %d", e.DirectorUID)
			}
			seen[e.DirectorUID] = true
		}
		if before != nil && !slices.Equal(before, f.owner.Computers) {
			t.Errorf("opened again: %+v, not %+v", f.owner.Computers, before)
		}
		before = f.owner.Computers
	}
}

func TestOnlySoManyComputersAreMadeAtOnce(t *testing.T) {
	var c computers
	for i := range maxMaking {
		if err := c.startMaking(choir.ID(rune('a' + i))); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.startMaking("one more"); choir.CodeOf(err) != choir.CodeBusy {
		t.Errorf("one more: %v", err)
	}
	c.endMaking("a")
	if err := c.startMaking("one more"); err != nil {
		t.Errorf("after one was made: %v", err)
	}
}

func TestAWorkspaceOfSomebodyElsesUserIsTold(t *testing.T) {
	h := uidAllocator{named: func(id int) (bool, error) { return id == 700_000, nil }, reserved: []idRange{{800_000, 10}}}
	all := []entry{
		{Name: "a", HostUID: 600_000, DirectorUID: firstDrawnUID},
		{Name: "b", HostUID: 600_000, DirectorUID: firstDrawnUID + 1},
		{Name: "c", HostUID: 700_000, DirectorUID: firstDrawnUID + 2},
		{Name: "d", HostUID: 800_009, DirectorUID: firstDrawnUID + 3},
	}
	var got []string
	for _, c := range h.shared(all) {
		got = append(got, c.Name+": "+c.Detail)
	}
	want := []string{
		"host user of b: user 600000 of its associate is also of the associate of a",
		"host user of c: user 700000 of its associate is also of a user or group of this host",
		"host user of d: user 800009 of its associate is also of /etc/subuid or /etc/subgid",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}
