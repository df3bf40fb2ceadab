package snapshot

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"choiros/internal/choir"
)

func sample() Manifest {
	return Manifest{Mode: 0o755, MTime: Stamp{1700000000, 123456789}, Entries: []Entry{
		{Name: "a", Kind: File, Mode: 0o644, MTime: Stamp{-5, 1}, Size: 3, Sum: Sum{1, 2, 3}},
		{Name: "b\xff", Kind: Dir, Sum: Sum{9}},
		{Name: "c", Kind: Symlink, Mode: 0o777, Target: "../x"},
		{Name: "d", Kind: Fifo, Mode: 0o7600},
		{Name: "e", Kind: File, Sum: emptySum},
	}}
}

func TestManifestEncodesToItself(t *testing.T) {
	m := sample()
	got, err := DecodeManifest(m.Encode())
	if err != nil || !reflect.DeepEqual(got, m) {
		t.Fatalf("got %+v, %v", got, err)
	}
	if mode, mtime, err := ReadMeta(bytes.NewReader(m.Encode())); err != nil || mode != m.Mode || mtime != m.MTime {
		t.Fatalf("its beginning says %o, %v, %v", mode, mtime, err)
	}
}

func TestTheBeginningOfAManifestIsRefused(t *testing.T) {
	good := sample()
	raw := good.Encode()
	other := append([]byte("choirmf\x02"), raw[8:]...)
	for name, raw := range map[string][]byte{"nothing": nil, "cut off": raw[:21], "another magic": other} {
		if _, _, err := ReadMeta(bytes.NewReader(raw)); choir.CodeOf(err) != choir.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	broken := errors.New("broken")
	if _, _, err := ReadMeta(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("a store that fails: %v", err)
	}
}

func TestManifestRefusals(t *testing.T) {
	edit := func(change func(m *Manifest)) []byte {
		m := sample()
		change(&m)
		return m.Encode()
	}
	good := sample()
	raw := good.Encode()
	cases := map[string]struct {
		raw  []byte
		path string
	}{
		"nothing":        {nil, "manifest"},
		"another magic":  {append([]byte("choirmf\x02"), raw[8:]...), "manifest"},
		"cut off":        {raw[:len(raw)-1], "entries[4].digest"},
		"more":           {append(bytes.Clone(raw), 0), "manifest"},
		"absurd count":   {append(bytes.Clone(raw[:22]), 0xff, 0xff, 0xff, 0xff), "manifest.entries"},
		"root mode":      {edit(func(m *Manifest) { m.Mode = 0o10000 }), "manifest.mode"},
		"nanoseconds":    {edit(func(m *Manifest) { m.MTime.Nsec = 1e9 }), "manifest.mtime"},
		"empty name":     {edit(func(m *Manifest) { m.Entries[0].Name = "" }), "entries[0].name"},
		"dot":            {edit(func(m *Manifest) { m.Entries[0].Name = "." }), "entries[0].name"},
		"dot dot":        {edit(func(m *Manifest) { m.Entries[0].Name = ".." }), "entries[0].name"},
		"slash":          {edit(func(m *Manifest) { m.Entries[1].Name = "b/c" }), "entries[1].name"},
		"NUL":            {edit(func(m *Manifest) { m.Entries[1].Name = "b\x00" }), "entries[1].name"},
		"unsorted":       {edit(func(m *Manifest) { m.Entries[1].Name = "z" }), "entries[2].name"},
		"twice":          {edit(func(m *Manifest) { m.Entries[1].Name = "a" }), "entries[1].name"},
		"mode":           {edit(func(m *Manifest) { m.Entries[3].Mode = 0o10000 }), "entries[3].meta.mode"},
		"kind":           {edit(func(m *Manifest) { m.Entries[3].Kind = 's' }), "entries[3].kind"},
		"absurd size":    {edit(func(m *Manifest) { m.Entries[0].Size = MaxFileBytes + 1 }), "entries[0].size"},
		"negative size":  {edit(func(m *Manifest) { m.Entries[0].Size = -1 }), "entries[0].size"},
		"empty, another": {edit(func(m *Manifest) { m.Entries[4].Sum = Sum{1} }), "entries[4].digest"},
		"not empty":      {edit(func(m *Manifest) { m.Entries[0].Sum = emptySum }), "entries[0].digest"},
		"no target":      {edit(func(m *Manifest) { m.Entries[2].Target = "" }), "entries[2].target"},
		"NUL in target":  {edit(func(m *Manifest) { m.Entries[2].Target = "a\x00" }), "entries[2].target"},
		"long target":    {edit(func(m *Manifest) { m.Entries[2].Target = strings.Repeat("t", 4096) }), "entries[2].target"},
	}
	for name, c := range cases {
		_, err := DecodeManifest(c.raw)
		var e *choir.Error
		if !errors.As(err, &e) || e.Code != choir.CodeInvalid || e.Path != c.path {
			t.Errorf("%s: got %v, want path %s", name, err, c.path)
		}
	}
}

// FuzzDecodeManifest holds: what is decoded encodes to the same bytes, and what
// is refused is refused with a code and a path.
func FuzzDecodeManifest(f *testing.F) {
	m := sample()
	f.Add(m.Encode())
	f.Add((&Manifest{}).Encode())
	f.Add([]byte(manifestMagic))
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := DecodeManifest(raw)
		if err == nil {
			if !bytes.Equal(m.Encode(), raw) {
				t.Fatal("decode and encode is not the identity")
			}
			return
		}
		var e *choir.Error
		if !errors.As(err, &e) || e.Path == "" || e.Code == "" || e.Code == choir.CodeInternal {
			t.Fatalf("refused with %v", err)
		}
	})
}

func TestEscapedPathsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.SliceOf(rapid.Byte()).Draw(t, "raw")
		esc := EscapePath(raw)
		back, err := UnescapePath(esc)
		if err != nil || !bytes.Equal(back, raw) {
			t.Fatalf("%q gives %q gives %q, %v", raw, esc, back, err)
		}
	})
	for _, bad := range []string{"%", "%2", "%zz", "%ff", "%41", "a%2", "\xff"} {
		if _, err := UnescapePath(bad); choir.CodeOf(err) != choir.CodeInvalid {
			t.Errorf("%q is accepted: %v", bad, err)
		}
	}
	if got := EscapePath([]byte("caf\xc3\xa9 100%\xff")); got != "café 100%25%FF" {
		t.Errorf("got %q", got)
	}
}

func TestStampsGoBack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		s := Stamp{r.Int64N(100), uint32(r.Int64N(1e9))}
		ns := r.Int64N(5e9)
		got := s.minus(ns)
		if got.Sec*1e9+int64(got.Nsec) != s.Sec*1e9+int64(s.Nsec)-ns || got.Nsec >= 1e9 {
			t.Fatalf("%v minus %d is %v", s, ns, got)
		}
	}
}

// The bytes of version 1 never change: snapshots that exist name them.
func TestManifestBytesStay(t *testing.T) {
	m := sample()
	const want = "66f1c6e777a9a727b5e610521184da86e98bc3a08f9a0b9099fbee1213ab591f"
	if got := choir.DigestOf(m.Encode()); got != want {
		t.Errorf("the sample encodes to %s", got)
	}
}
