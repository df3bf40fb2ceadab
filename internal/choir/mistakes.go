package choir

import (
	"errors"
	"reflect"
	"strings"
)

// DecodeStrictAll decodes JSON as DecodeStrict does and returns all mistakes that can be
// told apart, in the order of the input, each an *Error with its path; nil for none. An
// unknown field is told with the field that was probably meant. What is not JSON is the
// only mistake. A field with a mistake may be set or not.
func DecodeStrictAll(raw []byte, into any) []error {
	s := scanner{src: raw, text: string(raw), thorough: true}
	s.space()
	err := s.decode(reflect.ValueOf(into).Elem(), &rules{}, 0)
	var all mistakes
	if errors.As(err, &all) {
		return append(all, listed(s.end())...)
	}
	if err == nil {
		err = s.end()
	}
	return listed(err)
}

func listed(err error) []error {
	if err == nil {
		return nil
	}
	return []error{err}
}

// mistakes are several errors of one value, with paths below it.
type mistakes []error

func (m mistakes) Error() string { return errors.Join(m...).Error() }

// with returns the mistakes and err as one error; nil without any.
func (m mistakes) with(err error) error {
	if len(m) == 0 {
		return err
	}
	return append(m, listed(err)...)
}

// goOn puts err below path. A thorough scanner adds it to found and goes on after the
// value that begins at start; the error is then that of a value that is not JSON. Else
// err is returned.
func (s *scanner) goOn(found *mistakes, path string, err error, start, depth int) error {
	if !s.thorough {
		return Under(path, err)
	}
	s.pos = start
	if _, err := s.tree(depth + 1); err != nil {
		return err
	}
	var below mistakes
	if !errors.As(err, &below) {
		below = mistakes{err}
	}
	for _, e := range below {
		if path != "" {
			e = Under(path, e)
		}
		*found = append(*found, e)
	}
	return nil
}

// completeAll adds all missing fields to the mistakes found in v. v's Check is asked only
// when there are none. Bit i of seen is set if field i was given.
func (s *scanner) completeAll(sh *shape, v reflect.Value, seen uint64, found mistakes) error {
	for i := range sh.fields {
		if f := &sh.fields[i]; f.required && seen&(1<<i) == 0 {
			found = append(found, RefuseField(f.name, ReasonFieldRequired))
		}
	}
	if len(found) == 0 && sh.check {
		return v.Addr().Interface().(checker).Check()
	}
	return found.with(nil)
}

// unknownField returns the error for a member without a field, which names the field
// that was probably meant, else all fields.
func (sh *shape) unknownField(name string) error {
	var names []string
	meant, least := "", 3
	for _, f := range sh.fields {
		names = append(names, f.name)
		d := distance(strings.ToLower(name), f.name)
		if d >= least && len(name) > 2 && (strings.Contains(f.name, strings.ToLower(name)) || strings.Contains(name, f.name)) {
			d = 2
		}
		if d < least {
			meant, least = f.name, d
		}
	}
	if meant != "" {
		return RefuseField(pathOf(name), ReasonFieldUnknownMeant, TextOf("meant", meant))
	}
	return RefuseField(pathOf(name), ReasonFieldUnknownKnown, TextOf("names", strings.Join(names, ", ")))
}

// distance returns the Levenshtein distance of two short texts, in bytes.
func distance(a, b string) int {
	if len(a) > 64 {
		return len(a)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := before
			if a[i] != b[j] {
				d = 1 + min(before, row[j], row[j+1])
			}
			before, row[j+1] = row[j+1], d
		}
	}
	return row[len(b)]
}
