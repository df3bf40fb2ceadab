package config

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"

	"choiros/internal/choir"
)

// locate returns an error of Parse with the name of the file in its path, and the line where that
// is found and the error does not say it.
func locate(name string, raw []byte, err error) error {
	var e *choir.Error
	if !errors.As(err, &e) || slices.ContainsFunc(e.Values, func(v choir.Value) bool { return v.Name == "line" }) {
		return choir.Under(name, err)
	}
	line := lineOf(raw, e.Path)
	if line == 0 {
		return choir.Under(name, err)
	}
	located := *e
	return located.At(name + ":" + strconv.Itoa(line) + ": " + e.Path)
}

// lineOf returns the line of a key in a file, such as approve[1].lines, or else that of the
// innermost table that would have it; 0 for neither. A path without numbers means the first entry
// that has the key.
func lineOf(raw []byte, path string) int {
	entries := map[string]int{} // tables of each list so far
	table, best, found := "", 0, 0
	p := unstable.Parser{}
	p.Reset(raw)
	for p.NextExpression() {
		expr := p.Expression()
		names, line := readKey(&p, expr)
		switch expr.Kind {
		case unstable.Table:
			table = numbered(names, entries)
			names = table
		case unstable.ArrayTable:
			entries[names]++
			table = numbered(names, entries)
			names = table
		default:
			names = strings.TrimPrefix(table+"."+names, ".")
		}
		if names == path || withoutNumbers(names) == path {
			return line
		}
		if within := strings.HasPrefix(path, names+".") || strings.HasPrefix(path, names+"["); within && len(names) > best {
			best, found = len(names), line
		}
	}
	return found
}

// readKey returns the key of an expression in dotted form, and its line.
func readKey(p *unstable.Parser, expr *unstable.Node) (names string, line int) {
	var parts []string
	for it := expr.Key(); it.Next(); {
		if line == 0 {
			line = p.Shape(it.Node().Raw).Start.Line
		}
		parts = append(parts, string(it.Node().Data))
	}
	return strings.Join(parts, "."), line
}

// numbered returns the name of a table with the number of the last entry of each list that it
// lies in.
func numbered(names string, entries map[string]int) string {
	out, plain := "", ""
	for i, part := range strings.Split(names, ".") {
		if i > 0 {
			out, plain = out+".", plain+"."
		}
		out, plain = out+part, plain+part
		if n := entries[plain]; n > 0 {
			out += "[" + strconv.Itoa(n-1) + "]"
		}
	}
	return out
}

// withoutNumbers returns a key without the numbers of entries in it.
func withoutNumbers(names string) string {
	var b strings.Builder
	for names != "" {
		before, after, _ := strings.Cut(names, "[")
		b.WriteString(before)
		_, names, _ = strings.Cut(after, "]")
	}
	return b.String()
}
