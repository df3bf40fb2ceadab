package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"choiros/internal/choir"
)

var (
	//go:embed text/intro.md
	intro string
	//go:embed text/bus.md
	busRules string
	//go:embed text/rules.md
	rules string
)

// markdown writes docs/CONTRACTS.md: words from the text folder, every table
// from the Go types.
func (v *vocabulary) markdown() []byte {
	var b bytes.Buffer
	b.WriteString(intro)
	for _, root := range []any{choir.Event{}, choir.DirectorTask{}, choir.AssociateResult{}} {
		t := reflect.TypeOf(root)
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n", t.Name(), v.doc(t))
		fieldTable(&b, t)
	}
	b.WriteString("\n## Parts\n")
	tops := []reflect.Type{reflect.TypeFor[choir.Event](), reflect.TypeFor[choir.DirectorTask](), reflect.TypeFor[choir.AssociateResult]()}
	for _, p := range append(payloads(), verbTypes()...) {
		tops = append(tops, reflect.TypeOf(p))
	}
	roots := append([]any{choir.Event{}, choir.DirectorTask{}, choir.AssociateResult{}}, payloads()...)
	for _, t := range structs(append(roots, verbTypes()...)...) {
		if slices.Contains(tops, t) {
			continue
		}
		fmt.Fprintf(&b, "\n### %s\n\n%s\n\n", t.Name(), v.doc(t))
		fieldTable(&b, t)
	}
	b.WriteString("\n" + rules)
	v.events(&b)
	v.bus(&b)
	codeTable(&b)
	reasonTable(&b)
	namesTable(&b)
	return b.Bytes()
}

func (v *vocabulary) events(b *bytes.Buffer) {
	b.WriteString("\n## Event types\n\nA `fact` is never rewound; of `state` a rewind writes the earlier version again. Only the roles named may append an event of a type. Of a type that is once per something the log has one event about each, whoever appends it: a second is refused as `conflict`, and the problem's `first` names the one that is there. A draft whose id is in the log is a duplicate only when source, type, run, task, cause, payload and blob are the same too, else it is a `conflict` as well.\n")
	for _, info := range choir.Types() {
		run := ""
		if info.Run {
			run = " · names a run"
		}
		if len(info.Once) > 0 {
			run += " · once per `" + strings.Join(info.Once, "`, `") + "`"
		}
		if info.After != "" {
			run += " · after the `" + string(info.After) + "` of the same"
		}
		fmt.Fprintf(b, "\n### `%s`\n\n%s\n\n%s · appended by %s%s\n\n", info.Type, info.Doc, info.Class, list(info.Roles), run)
		fieldTable(b, reflect.TypeOf(info.Sample))
	}
}

func (v *vocabulary) bus(b *bytes.Buffer) {
	b.WriteString("\n## On the bus\n\n| subject | what | publish | subscribe |\n|---|---|---|---|\n")
	for _, s := range choir.Subjects() {
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", s.Pattern, s.Doc, list(s.Publish), list(s.Subscribe))
	}
	b.WriteString("\n" + busRules + "\n### Verbs of cmd\n")
	for _, verb := range choir.Verbs() {
		fmt.Fprintf(b, "\n#### `%s`\n\n%s Asked by %s.\n", verb.Verb, verb.Doc, list(verb.Roles))
		for _, side := range []struct {
			name string
			t    reflect.Type
		}{{"Request", reflect.TypeOf(verb.Request)}, {"Reply", reflect.TypeOf(verb.Reply)}} {
			if side.t.NumField() > 0 {
				fmt.Fprintf(b, "\n%s: %s\n\n", side.name, v.doc(side.t))
				fieldTable(b, side.t)
			}
		}
	}
	fmt.Fprintf(b, "\n#### Reply\n\n%s\n\n", v.docs["Reply"])
	fieldTable(b, reflect.TypeFor[choir.Reply]())
	fmt.Fprintf(b, "\n#### LargeRequest\n\n%s\n\n", v.docs["LargeRequest"])
	fieldTable(b, reflect.TypeFor[choir.LargeRequest]())
}

func codeTable(b *bytes.Buffer) {
	b.WriteString("\n## Error codes\n\n| code | HTTP status | exit code | the same call may succeed later |\n|---|---|---|---|\n")
	for _, c := range choir.Codes() {
		again := "no"
		if c.Retry() {
			again = "yes"
		}
		fmt.Fprintf(b, "| `%s` | %d | %d | %s |\n", c, c.HTTPStatus(), c.ExitCode(), again)
	}
}

// reasonTable writes the reasons with their English sentences.
func reasonTable(b *bytes.Buffer) {
	b.WriteString("\n## Reasons\n\nA problem with a `reason` can be said in another language: `values` fill the placeholders of that language's sentence (`internal/choir/problems.*.json`; `problemshost.*.json` for those of the CLI and of choir's start). The value `field` is the problem's field; `message` and `detail` leave it out.\n\n| reason | code | in English |\n|---|---|---|\n")
	for _, r := range choir.Reasons() {
		fmt.Fprintf(b, "| `%s` | `%s` | %s |\n", r, r.Code(), choir.ProblemsIn("en").Reasons[r].Said.Other)
	}
}

func fieldTable(b *bytes.Buffer, t reflect.Type) {
	b.WriteString("| field | type | meaning |\n|---|---|---|\n")
	for _, f := range choir.Describe(t) {
		kind := typeName(f.Type, f.Rules)
		if f.Type.Kind() == reflect.Slice {
			kind += span(f.Rules.Len, " items")
		}
		switch {
		case !f.Required:
			kind += ", optional"
		case f.Type.Kind() == reflect.Pointer:
			kind += " or null"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", f.Name, kind, strings.ReplaceAll(f.Doc, "|", `\|`))
	}
}

func stringName(r choir.RuleInfo) string {
	switch r.Format {
	case "id":
		return "UUID"
	case "id7":
		return "UUIDv7"
	case "digest":
		return "SHA-256"
	}
	if len(r.Enum) > 0 {
		return "`" + strings.Join(r.Enum, "` `") + "`"
	}
	return "string" + span(r.Len, " characters")
}

// span returns the bounds of a type for people. It leaves out an upper bound that only
// keeps a number exact.
func span(b *choir.Bounds, unit string) string {
	switch {
	case b == nil:
		return ""
	case b.Max == 1<<53-1 && b.Min == 0:
		return ", from 0"
	case b.Max == 1<<53-1:
		return ""
	}
	return ", " + b.String() + unit
}

func list[S ~string](words []S) string {
	if len(words) == len(choir.Roles()) {
		return "all"
	}
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = string(w)
	}
	return strings.Join(out, ", ")
}

func anchor(name string) string { return strings.ToLower(name) }
