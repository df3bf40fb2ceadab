package main

import (
	"bytes"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/control/api"
	"choiros/internal/eventstore"
)

func TestAnAnswerSaysFirstHowMuchIsDone(t *testing.T) {
	t.Parallel()
	for status, want := range map[choir.AnswerStatus]string{
		"": "\nSo it is.\n", choir.AnsweredPartly: "\nPartly done.\n\nSo it is.\n", choir.AnsweredNotDone: "\nNot done.\n\nSo it is.\n",
	} {
		var out, errs bytes.Buffer
		a := &app{printer: newPrinter(newConsole(&out, &errs), func(string) string { return "" })}
		run := eventstore.Run{State: eventstore.RunDone, Status: status, Answer: "So it is."}
		if err := a.showOutcome(api.RunView{Run: run}); err != nil || !strings.HasPrefix(out.String(), want) || errs.Len() > 0 {
			t.Errorf("%q: %v\n%s%s", status, err, out.String(), errs.String())
		}
	}
}
