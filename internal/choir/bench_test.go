package choir

import (
	"strings"
	"testing"
)

// benchEvent has about 500 bytes when it is sealed.
func benchEvent(b *testing.B) (Event, []byte) {
	e := testEvent(`{"text":"` + strings.Repeat("words ", 4) + `"}`)
	raw, err := SealEvent(&e, ZeroHash)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	return e, raw
}

func BenchmarkSealEvent(b *testing.B) {
	e, _ := benchEvent(b)
	for b.Loop() {
		if _, err := SealEvent(&e, ZeroHash); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeEvent(b *testing.B) {
	_, raw := benchEvent(b)
	for b.Loop() {
		if _, err := DecodeEvent(raw); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeEventNotCanonical(b *testing.B) {
	_, raw := benchEvent(b)
	raw = append(raw, ' ')
	for b.Loop() {
		if _, err := DecodeEvent(raw); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPayload(b *testing.B) {
	p := &ModelReturned{Call: testRun, Caller: "director", Provider: "replay", Model: "demo", Response: DigestOf(nil), InputTokens: 1200, OutputTokens: 80, CostUSD: 0.0125, DurationMS: 900}
	raw, err := Canonical(p)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := DecodePayload("model.returned", raw); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Canonical(p); err != nil {
				b.Fatal(err)
			}
		}
	})
}
