package logbook

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strconv"

	"choiros/internal/choir"
)

// Entry is a log record without its private attributes.
type Entry struct {
	Time       string            `json:"time"`
	Level      string            `json:"level"`
	Message    string            `json:"message"`
	Attributes map[string]string `json:"attributes,omitempty"`
	// Withheld has the names of the private attributes.
	Withheld []string `json:"withheld,omitempty"`
}

// Tail returns up to most of the newest records of the log at path, oldest first, including the
// previous file's. skipped is the number of lines that are not records. A missing log has none.
func Tail(path string, most int) (entries []Entry, skipped int, err error) {
	for _, name := range []string{former(path), path} {
		raw, err := readBounded(name)
		if err != nil {
			return nil, 0, choir.Wrap("logbook.tail", choir.CodeUnavailable, err, "read the log")
		}
		for line := range bytes.Lines(raw) {
			e, ok := entryOf(line)
			if !ok {
				skipped++
				continue
			}
			entries = append(entries, e)
		}
	}
	return entries[max(0, len(entries)-most):], skipped, nil
}

// readBounded returns the first 4*FileBytes of a log file; nil if it does not exist.
func readBounded(name string) ([]byte, error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, 4*FileBytes))
}

var (
	stamp = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$`)
	level = regexp.MustCompile(`^(DEBUG|INFO|WARN|ERROR)([+-]\d+)?$`)
	// word matches a word of a closed list, an operation, or the name of a Go type.
	word = regexp.MustCompile(`^[A-Za-z*][A-Za-z0-9_.*-]{0,63}$`)
	// sentence matches a message of the source, see WellFormed.
	sentence = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9 ,;:'-]{0,199}$`)
)

// WellFormed reports whether a record may have this message: one short sentence of letters, digits
// and simple punctuation.
func WellFormed(message string) bool { return sentence.MatchString(message) }

// entryOf decodes one line; false if it is not a record of a logger made by New.
func entryOf(line []byte) (Entry, bool) {
	var members map[string]json.RawMessage
	if json.Unmarshal(line, &members) != nil {
		return Entry{}, false
	}
	e := Entry{Time: text(members["time"]), Level: text(members["level"]), Message: text(members["msg"]), Attributes: map[string]string{}}
	if !stamp.MatchString(e.Time) || !level.MatchString(e.Level) || !WellFormed(e.Message) {
		return Entry{}, false
	}
	for key, raw := range members {
		if key == "time" || key == "level" || key == "msg" {
			continue
		}
		e.addAttribute(key, raw)
	}
	return e, true
}

// addAttribute adds an attribute, unless it is private or malformed.
func (e *Entry) addAttribute(key string, raw json.RawMessage) {
	value, ok := "", false
	switch Keys[key] {
	case ID:
		value = text(raw)
		ok = choir.ID(value).Valid()
	case Word:
		value = text(raw)
		ok = word.MatchString(value)
	case Number:
		value = string(raw)
		_, err := strconv.ParseFloat(value, 64)
		ok = err == nil
	case Failure:
		e.takeFailure(key, raw)
		return
	case Private:
		e.Withheld = append(e.Withheld, key)
		return
	}
	if ok {
		e.Attributes[key] = value
	}
}

// takeFailure adds code, operation and kind of an error to the attributes, without its text.
func (e *Entry) takeFailure(key string, raw json.RawMessage) {
	var f struct{ Code, Op, Kind string }
	if json.Unmarshal(raw, &f) != nil {
		return
	}
	for name, value := range map[string]string{"code": f.Code, "op": f.Op, "kind": f.Kind} {
		if word.MatchString(value) && (name != "code" || choir.Code(value).Known()) {
			e.Attributes[key+"."+name] = value
		}
	}
	e.Withheld = append(e.Withheld, key+".text")
}

// text decodes a JSON string; "" for other values.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}
