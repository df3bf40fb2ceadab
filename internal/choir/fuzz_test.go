package choir

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"testing"
)

// holds fails unless a decoded value, encoded and decoded again, is the same,
// or the refusal is an *Error with a code for outside input and a path.
func holds(t *testing.T, raw []byte, fresh func() any) {
	first := fresh()
	if err := DecodeStrict(raw, first); err != nil {
		refusal(t, raw, err)
		return
	}
	encoded, err := Canonical(first)
	if err != nil {
		t.Fatalf("%s was decoded and cannot be encoded: %v", raw, err)
	}
	second := fresh()
	if err := DecodeStrict(encoded, second); err != nil || !reflect.DeepEqual(first, second) {
		t.Fatalf("%s is %+v, then %+v (%v)", raw, first, second, err)
	}
	fixed(t, encoded)
}

func refusal(t *testing.T, raw []byte, err error) {
	var e *Error
	if !errors.As(err, &e) || e.Path == "" || e.Msg == "" || e.Code != CodeInvalid && e.Code != CodeTooLarge && e.Code != CodeCorrupt {
		t.Fatalf("%q is refused with %#v", raw, err)
	}
}

// fixed fails unless canonical output is a fixed point that encoding/json reads.
func fixed(t *testing.T, canonical []byte) {
	again, err := Canonicalize(canonical)
	if err != nil || !bytes.Equal(canonical, again) {
		t.Fatalf("canonical %s becomes %s (%v)", canonical, again, err)
	}
	if !json.Valid(canonical) {
		t.Fatalf("canonical %s is not JSON", canonical)
	}
}

func FuzzDirectorTask(f *testing.F) {
	f.Add([]byte(goodTask))
	f.Add([]byte(`{"version":1,"egress_profile":{"mode":"allowlist","allowlist":[{"host":"x","methods":[],"paths":null}]}}`))
	f.Fuzz(func(t *testing.T, raw []byte) { holds(t, raw, func() any { return new(DirectorTask) }) })
}

func FuzzAssociateResult(f *testing.F) {
	good, err := Canonical(AssociateResult{Version: 1, TaskID: testRun, RunID: testRun, Status: StatusOK, Diff: &Diff{Format: "unified", Content: "x"},
		Verify: VerifyOutcome{Mode: VerifySmoke, Status: VerifyPass, Commands: []CommandRun{{Command: "true"}}}, Usage: TaskUsage{CostUSD: 1e-9}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Fuzz(func(t *testing.T, raw []byte) { holds(t, raw, func() any { return new(AssociateResult) }) })
}

func FuzzDraft(f *testing.F) {
	f.Add([]byte(`{"id":"` + string(testRun) + `","type":"prompt.submitted","payload":{"text":"x"},"blob":"` + string(ZeroHash) + `"}`))
	f.Fuzz(func(t *testing.T, raw []byte) { holds(t, raw, func() any { return new(Draft) }) })
}

// FuzzEvent holds the two ways of reading an event against each other.
func FuzzEvent(f *testing.F) {
	e := testEvent(`{"text":"x"}`)
	raw, err := SealEvent(&e, ZeroHash)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Add(append([]byte(" "), raw...))
	f.Fuzz(func(t *testing.T, raw []byte) {
		holds(t, raw, func() any { return new(Event) })
		if e, _, ok := readCanonical(raw); ok {
			var slow Event
			if err := DecodeStrict(raw, &slow); err != nil || !reflect.DeepEqual(e, slow) {
				t.Fatalf("%s is read as %+v, strictly as %+v (%v)", raw, e, slow, err)
			}
			if again, err := EncodeEvent(&e); err != nil || !bytes.Equal(raw, again) {
				t.Fatalf("%s passed for canonical, encoded is %s (%v)", raw, again, err)
			}
		}
		e, err := DecodeEvent(raw)
		if err != nil {
			refusal(t, raw, err)
		} else if h, err := e.ComputeHash(); err != nil || h != e.Hash {
			t.Fatalf("%s passed with hash %s instead of %s (%v)", raw, e.Hash, h, err)
		}
	})
}

// FuzzPayload decodes into every payload type: the first byte chooses.
func FuzzPayload(f *testing.F) {
	for i, info := range Types() {
		raw, err := Canonical(info.Sample)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(byte(i), raw)
	}
	f.Add(byte(5), []byte(`{"text":"x","repo":"a"}`))
	f.Fuzz(func(t *testing.T, which byte, raw []byte) {
		info := types[int(which)%len(types)]
		if _, err := DecodePayload(info.Type, raw); err != nil {
			refusal(t, raw, err)
		}
		holds(t, raw, func() any { return info.New() })
	})
}

// FuzzVerb decodes into every request and reply: the first byte chooses.
func FuzzVerb(f *testing.F) {
	for i, v := range Verbs() {
		for j, sample := range []any{v.Request, v.Reply} {
			raw, err := Canonical(sample)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(byte(2*i+j), raw)
		}
	}
	f.Fuzz(func(t *testing.T, which byte, raw []byte) {
		v := verbs[int(which)/2%len(verbs)]
		typ := reflect.TypeOf([]any{v.Request, v.Reply}[which%2])
		holds(t, raw, func() any { return reflect.New(typ).Interface() })
	})
}

func FuzzCanonicalize(f *testing.F) {
	for _, seed := range []string{`{"b":[1,-0,1e21,1e-7,0.1,5e-324],"a":"\u001f\u00e9\ud83d\ude00\/"}`, `{"é":1,"":2,"😀":3,"ﬀ":4}`, `[[],{},null,true,""]`, `1E400`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		out, err := Canonicalize(raw)
		if err != nil {
			refusal(t, raw, err)
			if canonicalEnd(raw, 0, 0) == len(raw) {
				t.Fatalf("%s passed for canonical: %v", raw, err)
			}
			return
		}
		fixed(t, out)
		s := scanner{src: raw}
		s.space()
		n, err := s.tree(0)
		if err != nil || !bytes.Equal(n.appendCanonical(nil), out) {
			t.Fatalf("%s is canonical as %s, the slow way %s (%v)", raw, out, n.appendCanonical(nil), err)
		}
		var before, after any
		if json.Unmarshal(raw, &before) != nil || json.Unmarshal(out, &after) != nil || !reflect.DeepEqual(before, after) {
			t.Fatalf("%s became %s: %v, %v", raw, out, before, after)
		}
	})
}

func FuzzTime(f *testing.F) {
	f.Add("2026-11-21T02:28:00.000Z")
	f.Add("2024-02-29T23:59:59.999Z")
	f.Fuzz(func(t *testing.T, s string) {
		at, err := ParseTime(s)
		if err != nil {
			refusal(t, []byte(s), err)
		} else if at.String() != s {
			t.Fatalf("%q is read as %s", s, at)
		}
	})
}
