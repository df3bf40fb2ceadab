package choir

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestNewIDCarriesItsTimeAndSorts(t *testing.T) {
	random := bytes.Repeat([]byte{0xff}, 10)
	var ids []ID
	for _, at := range []Time{0, 1, 1_763_692_080_123, 1 << 47} {
		id, err := NewID(at, bytes.NewReader(random))
		if err != nil {
			t.Fatal(err)
		}
		if !id.ValidV7() || id.Time() != at {
			t.Errorf("%s of %d is valid: %t, and of %d", id, at, id.ValidV7(), id.Time())
		}
		ids = append(ids, id)
	}
	if !slices.IsSorted(ids) {
		t.Errorf("%q do not sort by time", ids)
	}
	// The example of RFC 9562, appendix A.6.
	id, err := NewID(0x017F22E279B0, bytes.NewReader([]byte{0x0c, 0xc3, 0x18, 0xc4, 0xdc, 0x0c, 0x0c, 0x07, 0x39, 0x8f}))
	if err != nil || id != "017f22e2-79b0-7cc3-98c4-dc0c0c07398f" {
		t.Errorf("made %s (%v)", id, err)
	}
	if _, err := NewID(0, strings.NewReader("short")); err == nil {
		t.Error("an id was made without randomness")
	}
}

func TestDeriveIDDependsOnEveryPart(t *testing.T) {
	seen := map[ID]bool{}
	for _, parts := range [][]string{nil, {""}, {"a"}, {"a", "b"}, {"ab"}, {"b", "a"}, {"a", "", "b"}} {
		id := DeriveID(testRun, parts...)
		if seen[id] || !id.ValidV7() || id.Time() != testRun.Time() || id != DeriveID(testRun, parts...) {
			t.Errorf("%q gives %s", parts, id)
		}
		seen[id] = true
	}
	if DeriveID(testUser, "a") == DeriveID(testRun, "a") {
		t.Error("the base does not matter")
	}
}

func TestIDsAndDigestsHaveOneForm(t *testing.T) {
	good := string(testRun)
	for _, bad := range []string{"", "x", good + "0", strings.ToUpper(good), "{" + good[1:], strings.ReplaceAll(good, "-", "_"), good[:35] + "g"} {
		if ID(bad).Valid() || ID(bad).ValidV7() || ID(bad).Time() != 0 {
			t.Errorf("%q passed for an id", bad)
		}
	}
	for _, variant := range []string{"0198aaaa-0000-4000-8000-000000000003", "0198aaaa-0000-7000-c000-000000000003"} {
		if !ID(variant).Valid() || ID(variant).ValidV7() {
			t.Errorf("%s is valid: %t, of version 7: %t", variant, ID(variant).Valid(), ID(variant).ValidV7())
		}
	}
	d := DigestOf([]byte("abc"))
	if d != "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" {
		t.Errorf("the digest of abc is %s", d)
	}
	sum, ok := d.Bytes()
	if !ok || DigestFrom(sum) != d {
		t.Errorf("%s has the bytes %x, %t", d, sum, ok)
	}
	for _, bad := range []Digest{"", d[1:], d + "0", Digest(strings.ToUpper(string(d)))} {
		if _, ok := bad.Bytes(); ok || bad.Valid() {
			t.Errorf("%q passed for a digest", bad)
		}
	}
}

func TestTimeHasOneForm(t *testing.T) {
	for _, want := range []string{"2026-11-21T02:28:00.000Z", "1969-12-31T23:59:59.999Z", "0000-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z", "2024-02-29T12:00:00.001Z"} {
		at, err := ParseTime(want)
		if err != nil || at.String() != want {
			t.Errorf("%s is read as %s (%v)", want, at, err)
		}
		if std, err := time.Parse(time.RFC3339Nano, want); err != nil || TimeOf(std) != at || !at.Std().Equal(std) {
			t.Errorf("%s is %d, time has %d (%v)", want, at, TimeOf(std), err)
		}
		var again Time
		raw, err := at.MarshalJSON()
		if err != nil || string(raw) != `"`+want+`"` || again.UnmarshalJSON(raw) != nil || again != at {
			t.Errorf("%s is written %s (%v) and read as %s", want, raw, err, again)
		}
	}
	bad := []string{"", "2026-11-21", "2026-11-21T02:28:00Z", "2026-11-21T02:28:00.000+00:00", "2026-11-21t02:28:00.000z", "2026-02-29T00:00:00.000Z",
		"2026-13-01T00:00:00.000Z", "2026-11-21T24:00:00.000Z", "2026-11-21T23:59:60.000Z", "2026-11-21 02:28:00.000Z", "2O26-11-21T02:28:00.000Z", "-026-11-21T02:28:00.000Z"}
	for _, s := range bad {
		if at, err := ParseTime(s); err == nil {
			t.Errorf("%q is read as %s", s, at)
		}
	}
	var at Time
	wantRefusal(t, at.UnmarshalJSON([]byte(`7`)), CodeInvalid, "$")
	for _, out := range []Time{minTime - 1, maxTime + 1} {
		if raw, err := out.MarshalJSON(); err == nil {
			t.Errorf("%d is written %s", out, raw)
		}
	}
}
