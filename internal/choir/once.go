package choir

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"
)

// OnceKey identifies the subject of an event type that the log has at most once per
// subject: a hash of the type and of the values of the fields in TypeInfo.Once. It begins
// with the timestamp of the first value, in hexadecimal, so that keys sort by time.
type OnceKey string

// onceKeyTime is the number of leading characters of a key that are its timestamp.
const onceKeyTime = 12

// NewOnceKey returns the key of an event type and the values of its subject, which are in
// the order of TypeInfo.Once.
func NewOnceKey(t Type, subject ...string) OnceKey {
	var room [256]byte
	said := append(room[:0], t...)
	for _, s := range subject {
		said = append(append(said, 0), s...)
	}
	sum := sha256.Sum256(said)
	key := append(make([]byte, 0, onceKeyTime+16), "000000000000"...)
	if len(subject) > 0 && ID(subject[0]).Valid() {
		copy(key, subject[0][:8])
		copy(key[8:], subject[0][9:13])
	}
	return OnceKey(base64.RawURLEncoding.AppendEncode(key, sum[:12]))
}

// OnceKeys returns an event's own key, and the key of the event that must precede it
// (TypeInfo.After). Each is empty if the type has no such rule or the event lacks a field
// of its subject. The payload must be canonical JSON.
func OnceKeys(t Type, run, task, cause ID, payload []byte) (own, after OnceKey) {
	info, ok := LookupType(t)
	if !ok || len(info.Once) == 0 {
		return "", ""
	}
	subject := make([]string, len(info.Once))
	for i, field := range info.Once {
		switch field {
		case "run":
			subject[i] = string(run)
		case "task":
			subject[i] = string(task)
		case "cause":
			subject[i] = string(cause)
		default:
			subject[i] = memberText(payload, strings.TrimPrefix(field, "payload."))
		}
		if subject[i] == "" {
			return "", ""
		}
	}
	if info.After != "" {
		after = NewOnceKey(info.After, subject...)
	}
	return NewOnceKey(t, subject...), after
}

// memberText returns the string at a dotted path in a canonical JSON object; empty if
// there is none.
func memberText(raw []byte, path string) string {
	for {
		name, rest, deeper := strings.Cut(path, ".")
		raw = memberOf(raw, name)
		if !deeper {
			break
		}
		path = rest
	}
	if end := plainString(raw, 0); end == len(raw) && end > 0 {
		return string(raw[1 : end-1])
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return ""
	}
	return text
}

// memberOf returns the encoded value of a member of a canonical JSON object; nil if it
// has no such member.
func memberOf(raw []byte, name string) []byte {
	if len(raw) == 0 || raw[0] != '{' {
		return nil
	}
	for pos := 1; pos < len(raw) && raw[pos] == '"'; pos++ {
		end := plainString(raw, pos)
		if end < 0 {
			return memberSlow(raw, name)
		}
		value := canonicalEnd(raw, end+1, 2)
		if value < 0 {
			return memberSlow(raw, name)
		}
		if bytes.Equal(raw[pos+1:end-1], []byte(name)) {
			return raw[end+1 : value]
		}
		pos = value // at the comma
	}
	return nil
}

// memberSlow does what memberOf does with encoding/json, for the rare forms that
// canonicalEnd does not recognise.
func memberSlow(raw []byte, name string) []byte {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return nil
	}
	return members[name]
}
