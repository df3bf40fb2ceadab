package config

import (
	"reflect"
	"slices"
	"strings"

	"choiros/internal/choir"
)

// unknownKey refuses a key and names the nearest known one and all that are
// known at its place.
func unknownKey(path []string) *choir.Error {
	e := choir.Invalid(strings.Join(path, "."), "is not a known key")
	if len(path) == 0 {
		return e
	}
	known := keysAt(path[:len(path)-1])
	if len(known) == 0 {
		return e
	}
	names := make([]string, len(known))
	for i, k := range known {
		names[i] = k.name
	}
	all := "the known keys there are " + strings.Join(names, ", ")
	if near := nearest(path[len(path)-1], known); near != "" {
		return e.WithRemedy("did you mean %s? %s", near, all)
	}
	return e.WithRemedy("%s", all)
}

// knownKey is a key of one table: its name, and other words that people write
// for it.
type knownKey struct {
	name string
	also []string
}

// keysAt lists the keys of the table that a path leads to; none for a path that
// leads to no table.
func keysAt(path []string) []knownKey {
	t := reflect.TypeFor[Config]()
	for _, part := range path {
		i := slices.IndexFunc(reflect.VisibleFields(t), func(f reflect.StructField) bool { return f.Tag.Get("toml") == part })
		if i < 0 {
			return nil
		}
		if t = t.Field(i).Type; t.Kind() == reflect.Slice {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct {
			return nil
		}
	}
	var keys []knownKey
	for _, f := range reflect.VisibleFields(t) {
		if name := f.Tag.Get("toml"); name != "" && name != "-" {
			keys = append(keys, knownKey{name, strings.Fields(f.Tag.Get("also"))})
		}
	}
	return keys
}

// nearest is the known key that somebody meant most likely; empty when none is
// near.
func nearest(word string, known []knownKey) string {
	best, least := "", len(word)/2+1 // at most half of the letters may be wrong
	for _, k := range known {
		for _, form := range append([]string{k.name}, k.also...) {
			if d := distance(strings.ToLower(word), form); d < least {
				best, least = k.name, d
			}
		}
	}
	return best
}

// distance is the Levenshtein distance of two words: how many letters must be
// put in, taken out or changed to make one of the other.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
