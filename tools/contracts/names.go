package main

import (
	"bytes"
	"fmt"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/names"
)

// namesScript writes the pages' copy of the table of names.
func namesScript(path string) output {
	b := bytes.NewBufferString(strings.Replace(generated, "internal/choir", "internal/names", 1))
	b.WriteString("/** What things are called on every screen, in each language. */\nexport const names = {\n")
	for _, n := range names.All() {
		fmt.Fprintf(b, "  /** %s */\n  %s: { en: %q, de: %q },\n", n.What, n.ID, n.EN, n.DE)
	}
	b.WriteString("} as const;\n")
	return output{path, b.Bytes()}
}

// marksScript writes the pages' copy of the sentences of the timeline.
func marksScript(path string) output {
	b := bytes.NewBufferString(strings.Replace(generated, "internal/choir", "internal/names", 1))
	b.WriteString("/** The sentences of the timeline, in each language. */\nexport const markWords = {\n")
	for _, l := range names.Languages() {
		fmt.Fprintf(b, "%s: %s,\n", l, bytes.TrimSpace(names.MarkCatalogue(l)))
	}
	b.WriteString("} as const;\n")
	return output{path, b.Bytes()}
}

// problemsScript writes the pages' copy of the German sentences of problems. In English the
// server says them.
func problemsScript(path string) output {
	b := bytes.NewBufferString(generated)
	b.WriteString("/** The sentences of problems in German: for each code around the server's English one, and for each reason. */\nexport const german = ")
	b.Write(bytes.TrimSpace(choir.ProblemFile(string(names.German))))
	b.WriteString(" as const;\n")
	return output{path, b.Bytes()}
}

// namesTable writes the table of names for people.
func namesTable(b *bytes.Buffer) {
	b.WriteString("\n## Names\n\nWhat things are called on every screen, in the CLI and in the documents, from `internal/names`. A test fails where a retired name comes back.\n\n| name | in German | what | retired |\n|---|---|---|---|\n")
	for _, n := range names.All() {
		var retired []string
		for _, text := range append(append([]string{}, n.Retired...), n.Titles...) {
			retired = append(retired, "“"+strings.ReplaceAll(text, "*", "")+"”")
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", n.EN, n.DE, n.What, strings.Join(retired, ", "))
	}
}
