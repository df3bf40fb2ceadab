package choir

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

// SealEvent sets e.PrevHash to prev, makes e.Payload canonical and sets e.Hash. It
// returns the event's canonical JSON, the form that is stored and sent. prev is ZeroHash
// for the first event of a log. An event above MaxEventBytes is code too_large, an
// invalid field code invalid.
func SealEvent(e *Event, prev Digest) ([]byte, error) {
	e.PrevHash = prev
	if err := e.normalizePayload(); err != nil {
		return nil, err
	}
	out, at, err := e.appendUnsealed(make([]byte, 0, 700+len(e.Payload)))
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(out)
	out = insertHash(out, at, sum)
	if len(out) > MaxEventBytes {
		return nil, &Error{Op: "choir.seal", Code: CodeTooLarge, Path: "payload", Msg: "makes an event of " +
			strconv.Itoa(len(out)) + " bytes", Remedy: "put large content into the blob store"}
	}
	e.Hash = Digest(out[at+len(hashMember) : at+len(hashMember)+64])
	return out, nil
}

// ComputeHash returns the hash that the event must have: the SHA-256 of the canonical
// JSON of all other fields. It does not look at e.Hash.
func (e *Event) ComputeHash() (Digest, error) {
	c := *e
	if err := c.normalizePayload(); err != nil {
		return "", err
	}
	out, _, err := c.appendUnsealed(make([]byte, 0, 700+len(e.Payload)))
	if err != nil {
		return "", err
	}
	return DigestOf(out), nil
}

// EncodeEvent returns the canonical JSON of a sealed event. It does not check whether the
// hash is right.
func EncodeEvent(e *Event) ([]byte, error) {
	c := *e
	if err := c.normalizePayload(); err != nil {
		return nil, err
	}
	sum, ok := e.Hash.Bytes()
	if !ok {
		return nil, Invalid("hash", "must be a SHA-256: the event is not sealed")
	}
	out, at, err := c.appendUnsealed(make([]byte, 0, 700+len(e.Payload)))
	if err != nil {
		return nil, err
	}
	return insertHash(out, at, sum), nil
}

// normalizePayload makes the payload canonical and checks all fields but the hash. A
// value that DecodeStrict would refuse is an error.
func (e *Event) normalizePayload() error {
	if len(e.Payload) > 0 && canonicalEnd(e.Payload, 0, 1) != len(e.Payload) {
		raw, err := canonicalizeAt(e.Payload, 1)
		if err != nil {
			return Under("payload", err)
		}
		e.Payload = raw
	}
	return e.checkFields()
}

func (e *Event) checkFields() error {
	switch {
	case e.Seq == 0 || e.Seq > maxInteger:
		return Invalid("seq", "must be 1 to %d, not %d", maxInteger, e.Seq)
	case !e.ID.ValidV7():
		return notID("id", e.ID)
	case !e.Computer.Valid():
		return notID("computer", e.Computer)
	case !e.User.Valid():
		return notID("user", e.User)
	case e.Run != "" && !e.Run.ValidV7():
		return notID("run", e.Run)
	case e.Task != "" && !e.Task.ValidV7():
		return notID("task", e.Task)
	case e.Cause != "" && !e.Cause.ValidV7():
		return notID("cause", e.Cause)
	case !e.Source.valid():
		return Invalid("source", "%q is not a source", clip(string(e.Source)))
	case e.Blob != "" && !e.Blob.Valid():
		return Invalid("blob", "%q is not a SHA-256 in lower-case hexadecimal", clip(string(e.Blob)))
	case !e.PrevHash.Valid():
		return Invalid("prev_hash", "%q is not a SHA-256 in lower-case hexadecimal", clip(string(e.PrevHash)))
	case len(e.Type) > 64:
		return Invalid("type", "must have 3 to 64 characters, not %d", len(e.Type))
	}
	return e.Check()
}

func notID(path string, id ID) error {
	return Invalid(path, "%q is not a UUID in lower case, of version 7 where the system makes it", clip(string(id)))
}

const hashMember = `,"hash":"`

// appendUnsealed appends the event's canonical JSON without the hash to out. It returns
// the result and the offset at which the hash member belongs. The event must have passed
// normalizePayload.
func (e *Event) appendUnsealed(out []byte) (_ []byte, hashAt int, err error) {
	out = append(out, '{')
	if e.Blob != "" {
		out = append(appendPlain(out, `"blob":"`, string(e.Blob)), ',')
	}
	if e.Cause != "" {
		out = append(appendPlain(out, `"cause":"`, string(e.Cause)), ',')
	}
	out = appendPlain(out, `"computer":"`, string(e.Computer))
	hashAt = len(out)
	out = appendPlain(out, `,"id":"`, string(e.ID))
	out = append(append(out, `,"payload":`...), e.Payload...)
	out = appendPlain(out, `,"prev_hash":"`, string(e.PrevHash))
	if e.Run != "" {
		out = appendPlain(out, `,"run":"`, string(e.Run))
	}
	out = strconv.AppendUint(append(out, `,"seq":`...), e.Seq, 10)
	out = appendPlain(out, `,"source":"`, string(e.Source))
	if e.Task != "" {
		out = appendPlain(out, `,"task":"`, string(e.Task))
	}
	if out, err = appendTime(append(out, `,"time":`...), e.Time); err != nil {
		return nil, 0, Under("time", err)
	}
	out = appendPlain(out, `,"type":"`, string(e.Type))
	return append(appendPlain(out, `,"user":"`, string(e.User)), '}'), hashAt, nil
}

// appendPlain appends a member: its name with the opening quote, its value, which must
// need no escapes, and the closing quote.
func appendPlain(out []byte, member, value string) []byte {
	return append(append(append(out, member...), value...), '"')
}

func insertHash(out []byte, at int, sum [32]byte) []byte {
	const width = len(hashMember) + 64 + 1
	var member [width]byte
	copy(member[:], hashMember)
	hex.Encode(member[len(hashMember):], sum[:])
	member[width-1] = '"'
	out = append(out, member[:]...)
	copy(out[at+width:], out[at:len(out)-width])
	copy(out[at:], member[:])
	return out
}

// hashOf returns the hash of an event from its canonical JSON, whose hash member begins
// at offset at. The member itself is left out of the hash.
func hashOf(raw []byte, at int) [32]byte {
	const width = len(hashMember) + 64 + 1
	var buf [1024]byte
	rest := append(append(buf[:0], raw[:at]...), raw[at+width:]...)
	return sha256.Sum256(rest)
}

func sameHash(d Digest, sum [32]byte) bool {
	var text [64]byte
	hex.Encode(text[:], sum[:])
	return bytes.Equal(text[:], []byte(d))
}
