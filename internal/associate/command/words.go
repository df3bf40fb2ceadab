package command

import (
	"strconv"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/excerpt"
)

// Describe returns a command, how it ended and the end of its output, for people.
func Describe(run choir.CommandRun) string {
	how := "exit code " + strconv.Itoa(run.ExitCode)
	if run.Signal != "" {
		how = run.Signal
	}
	text := excerpt.FirstLine(run.Command, 200) + " (" + how + ")"
	if end := strings.TrimSpace(run.StderrTail); end != "" {
		return text + "\n" + end
	}
	if end := strings.TrimSpace(run.StdoutTail); end != "" {
		return text + "\n" + end
	}
	return text
}

// Line returns the command as a shell command line.
func Line(c choir.Command) string {
	if c.Shell != "" {
		return c.Shell
	}
	words := make([]string, len(c.Argv))
	for i, w := range c.Argv {
		if w == "" || strings.ContainsAny(w, " \t\n\"'\\$`*?;&|<>()[]{}#~!") {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		words[i] = w
	}
	return strings.Join(words, " ")
}
