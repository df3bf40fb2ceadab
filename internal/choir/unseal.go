package choir

import (
	"bytes"
	"strings"
)

// DecodeEvent decodes an event strictly and checks its hash. The event does not alias
// raw. A wrong hash is code corrupt. Canonical JSON, the form that choir writes, is read
// in one pass; other JSON is accepted too.
func DecodeEvent(raw []byte) (Event, error) {
	e, err := DecodeShared(raw)
	e.Payload = append([]byte(nil), e.Payload...)
	return e, err
}

// DecodeShared decodes an event as DecodeEvent does, but its payload may alias raw, which
// the caller must not change while it uses the event.
func DecodeShared(raw []byte) (Event, error) {
	if len(raw) > MaxEventBytes {
		return Event{}, &Error{Op: "choir.decode_event", Code: CodeTooLarge, Path: "$", Msg: "an event has at most 262144 bytes"}
	}
	if e, hashAt, ok := readCanonical(raw); ok {
		if !sameHash(e.Hash, hashOf(raw, hashAt)) {
			return Event{}, wrongHash(&e)
		}
		return e, nil
	}
	var e Event
	if err := DecodeStrict(raw, &e); err != nil {
		return Event{}, err
	}
	want, err := e.ComputeHash()
	if err != nil {
		return Event{}, err
	}
	if e.Hash != want {
		return Event{}, wrongHash(&e)
	}
	return e, nil
}

func wrongHash(e *Event) error {
	return &Error{Op: "choir.decode_event", Code: CodeCorrupt, Path: "hash", Msg: "of event " + string(e.ID) + " is not that of its content"}
}

// maxHead and maxTail bound the bytes before and after the payload of a canonical event.
const (
	maxHead = 320
	maxTail = 480
)

// readCanonical decodes an event in canonical form without reflection. It returns the
// event, whose payload aliases raw, and the offset of the hash member. ok is false if raw
// is not canonical or has a value that DecodeStrict would refuse.
func readCanonical(raw []byte) (e Event, hashAt int, ok bool) {
	// One copy without the payload holds the text of all other members.
	from, to := payloadAt(raw)
	if to < 0 {
		return e, 0, false
	}
	var buf [maxHead + maxTail]byte
	r := eventReader{src: string(append(append(buf[:0], raw[:from]...), raw[to:]...))}
	hashAt = r.readHead(&e)
	if r.bad || r.pos != from {
		return e, 0, false
	}
	r.readTail(&e)
	e.Payload = raw[from:to:to]
	if r.bad || e.checkFields() != nil || !e.Hash.Valid() {
		return e, 0, false
	}
	return e, hashAt, true
}

var payloadKey = []byte(`,"payload":`)

// payloadAt returns the offsets at which the payload of a canonical event begins and
// ends; to is -1 if there is none in canonical form. It relies on canonical order, in
// which only identifiers precede the payload.
func payloadAt(raw []byte) (from, to int) {
	at := bytes.Index(raw[:min(len(raw), maxHead)], payloadKey)
	if at < 0 {
		return 0, -1
	}
	from = at + len(payloadKey)
	to = canonicalEnd(raw, from, 1)
	if len(raw)-to > maxTail {
		return from, -1
	}
	return from, to
}

// eventReader consumes expected text from the front of src. After the first mismatch bad
// is true and stays true.
type eventReader struct {
	src string
	pos int
	bad bool
}

func (r *eventReader) readHead(e *Event) (hashAt int) {
	r.expect("{")
	if r.skipText(`"blob":"`) {
		e.Blob = Digest(r.text(64))
		r.expect(`,`)
	}
	if r.skipText(`"cause":"`) {
		e.Cause = ID(r.text(36))
		r.expect(`,`)
	}
	r.expect(`"computer":"`)
	e.Computer = ID(r.text(36))
	hashAt = r.pos
	r.expect(hashMember)
	e.Hash = Digest(r.text(64))
	r.expect(`,"id":"`)
	e.ID = ID(r.text(36))
	r.expect(`,"payload":`)
	return hashAt
}

func (r *eventReader) readTail(e *Event) {
	r.expect(`,"prev_hash":"`)
	e.PrevHash = Digest(r.text(64))
	if r.skipText(`,"run":"`) {
		e.Run = ID(r.text(36))
	}
	r.expect(`,"seq":`)
	e.Seq = r.whole()
	r.expect(`,"source":"`)
	e.Source = Source(r.word())
	if r.skipText(`,"task":"`) {
		e.Task = ID(r.text(36))
	}
	r.expect(`,"time":"`)
	at, err := ParseTime(r.text(len(timeLayout)))
	e.Time, r.bad = at, r.bad || err != nil
	r.expect(`,"type":"`)
	e.Type = Type(r.word())
	r.expect(`,"user":"`)
	e.User = ID(r.text(36))
	r.expect(`}`)
	r.bad = r.bad || r.pos != len(r.src)
}

// skipText skips the text if it comes next, and reports whether it did.
func (r *eventReader) skipText(text string) bool {
	if r.bad || !strings.HasPrefix(r.src[r.pos:], text) {
		return false
	}
	r.pos += len(text)
	return true
}

func (r *eventReader) expect(text string) {
	if !r.skipText(text) {
		r.bad = true
	}
}

// text consumes a value of n bytes and its closing quote and returns the value.
// checkFields checks its content later.
func (r *eventReader) text(n int) string {
	if r.bad || r.pos+n >= len(r.src) || r.src[r.pos+n] != '"' {
		r.bad = true
		return ""
	}
	value := r.src[r.pos : r.pos+n]
	r.pos += n + 1
	return value
}

// word consumes a value up to and with its closing quote and returns the value.
func (r *eventReader) word() string {
	n := strings.IndexByte(r.src[r.pos:], '"')
	if r.bad || n < 0 {
		r.bad = true
		return ""
	}
	return r.text(n)
}

// whole consumes a non-negative integer in canonical form and returns it.
func (r *eventReader) whole() uint64 {
	start := r.pos
	var n uint64
	for !r.bad && r.pos < len(r.src) && r.src[r.pos]-'0' <= 9 && r.pos-start < 16 {
		n = 10*n + uint64(r.src[r.pos]-'0')
		r.pos++
	}
	r.bad = r.bad || r.pos == start || r.src[start] == '0'
	return n
}
