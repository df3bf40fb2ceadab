package choir

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

const testRun ID = "0198aaaa-0000-7000-8000-000000000003"

func testEvent(payload string) Event {
	return Event{
		Seq: 7, ID: "0198aaaa-0000-7000-8000-000000000007", Time: 1_763_692_080_123,
		Computer: testComputer, User: testUser, Source: SourceUser, Type: "prompt.submitted",
		Run: testRun, Payload: json.RawMessage(payload),
	}
}

func TestSealedBytesAreTheCanonicalJSONOfTheEvent(t *testing.T) {
	full := testEvent(`{"text":"x"}`)
	full.Task, full.Cause, full.Blob = testRun, testRun, DigestOf(nil)
	bare := testEvent(`{"text":"x"}`)
	bare.Run = ""
	for _, e := range []Event{testEvent(`{ "text": "\u00e9" , "repo":"a"}`), full, bare} {
		raw, err := SealEvent(&e, ZeroHash)
		if err != nil {
			t.Fatal(err)
		}
		if want, err := Canonical(e); err != nil || !bytes.Equal(raw, want) {
			t.Errorf("sealed as\n%s, canonical is\n%s (%v)", raw, want, err)
		}
		if again, err := EncodeEvent(&e); err != nil || !bytes.Equal(raw, again) {
			t.Errorf("encoded as\n%s (%v), sealed as\n%s", again, err, raw)
		}
		without := e
		without.Hash = ""
		plain, _ := Canonical(without)
		unsealed := bytes.Replace(plain, []byte(`"hash":"",`), nil, 1)
		if e.Hash != DigestOf(unsealed) {
			t.Errorf("hash is %s, that of all other fields is %s", e.Hash, DigestOf(unsealed))
		}
		if h, err := e.ComputeHash(); err != nil || h != e.Hash {
			t.Errorf("computed %s (%v), sealed %s", h, err, e.Hash)
		}
	}
}

func TestDecodeEventReadsAnyJSONOfTheSameEvent(t *testing.T) {
	e := testEvent(`{"text":"grüße","\ud83d\ude00":1}`)
	raw, err := SealEvent(&e, ZeroHash)
	if err != nil {
		t.Fatal(err)
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, raw, "", "  "); err != nil {
		t.Fatal(err)
	}
	for _, in := range [][]byte{raw, indented.Bytes()} {
		got, err := DecodeEvent(in)
		if err != nil {
			t.Fatal(err)
		}
		if again, _ := EncodeEvent(&got); !bytes.Equal(again, raw) {
			t.Errorf("decoded and encoded\n%s, want\n%s", again, raw)
		}
	}
}

func TestDecodeEventDoesNotAliasItsInput(t *testing.T) {
	e := testEvent(`{"text":"keep"}`)
	raw, err := SealEvent(&e, ZeroHash)
	if err != nil {
		t.Fatal(err)
	}
	in := bytes.Clone(raw)
	got, err := DecodeEvent(in)
	if err != nil {
		t.Fatal(err)
	}
	clear(in)
	if again, err := EncodeEvent(&got); err != nil || !bytes.Equal(again, raw) {
		t.Errorf("changed with its input to %s (%v)", again, err)
	}
}

func TestOneFlippedBitAnywhereIsRefused(t *testing.T) {
	e := testEvent(`{"text":"a word"}`)
	raw, err := SealEvent(&e, DigestOf([]byte("before")))
	if err != nil {
		t.Fatal(err)
	}
	for i := range raw {
		for bit := range 8 {
			bad := bytes.Clone(raw)
			bad[i] ^= 1 << bit
			_, err := DecodeEvent(bad)
			var refusal *Error
			if !errors.As(err, &refusal) || refusal.Path == "" {
				t.Fatalf("byte %d bit %d: %v for %s", i, bit, err, bad)
			}
		}
	}
}

func TestSealRefusesWhatCannotBeRead(t *testing.T) {
	cases := map[string]func(*Event){
		"seq":              func(e *Event) { e.Seq = 0 },
		"id":               func(e *Event) { e.ID = "0198aaaa-0000-4000-8000-000000000007" },
		"time":             func(e *Event) { e.Time = maxTime + 1 },
		"computer":         func(e *Event) { e.Computer = "" },
		"user":             func(e *Event) { e.User = "x" },
		"source":           func(e *Event) { e.Source = "me" },
		"type":             func(e *Event) { e.Type = "Prompt" },
		"run":              func(e *Event) { e.Run = "x" },
		"task":             func(e *Event) { e.Task = "x" },
		"cause":            func(e *Event) { e.Cause = "x" },
		"blob":             func(e *Event) { e.Blob = "x" },
		"payload":          func(e *Event) { e.Payload = nil },
		"payload.a":        func(e *Event) { e.Payload = json.RawMessage(`{"a":1,"a":1}`) },
		"payload.b.c[0].d": func(e *Event) { e.Payload = json.RawMessage(`{"b":{"c":[{"d":1e999}]}}`) },
	}
	for path, spoil := range cases {
		e := testEvent(`{"text":"x"}`)
		spoil(&e)
		_, err := SealEvent(&e, ZeroHash)
		wantRefusal(t, err, CodeInvalid, path)
	}
	e := testEvent(`{"text":"` + strings.Repeat("x", MaxEventBytes) + `"}`)
	_, err := SealEvent(&e, ZeroHash)
	wantRefusal(t, err, CodeTooLarge, "payload")
	e = testEvent(`{"text":"x"}`)
	_, err = SealEvent(&e, "")
	wantRefusal(t, err, CodeInvalid, "prev_hash")
}

func TestDecodeEventNamesTheWrongHash(t *testing.T) {
	e := testEvent(`{"text":"x"}`)
	raw, err := SealEvent(&e, ZeroHash)
	if err != nil {
		t.Fatal(err)
	}
	_, err = DecodeEvent(bytes.Replace(raw, []byte(`"text":"x"`), []byte(`"text":"y"`), 1))
	wantRefusal(t, err, CodeCorrupt, "hash")
	_, err = DecodeEvent(bytes.Replace(raw, []byte(`"text":"x"`), []byte(`"text": "y"`), 1))
	wantRefusal(t, err, CodeCorrupt, "hash")
}

func wantRefusal(t *testing.T, err error, code Code, path string) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || e.Code != code || e.Path != path {
		t.Errorf("got %v, want %s at %s", err, code, path)
	}
}
