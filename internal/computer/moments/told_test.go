package moments

import (
	"reflect"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/eventstore"
	"choiros/internal/names"
)

func TestAnEventIsToldAsDataAndSaidInEachLanguage(t *testing.T) {
	for _, c := range []struct {
		source  choir.Source
		payload choir.Payload
		files   int
		told    Told
		en, de  string
	}{
		{payload: &choir.PromptSubmitted{Text: "count\nbirds"}, told: Told{Sentence: "asked", About: []string{"count birds"}}, en: "You asked: count birds", de: "Auftrag: count birds"},
		{payload: &choir.RunFinished{Outcome: choir.OutcomeDone}, told: Told{Sentence: "runDone"}, en: "The run finished", de: "Der Lauf ist fertig"},
		{payload: &choir.RunFinished{Outcome: choir.OutcomeFailed}, told: Told{Sentence: "runFailed"}, en: "The run failed", de: "Der Lauf ist gescheitert"},
		{payload: &choir.RunFinished{Outcome: choir.OutcomeFailed, Said: "all done"}, told: Told{Sentence: "runFailedSaid", About: []string{"all done"}},
			en: "The run failed; the model said, unchecked: all done", de: "Der Lauf ist gescheitert; das Modell sagte, ungeprüft: all done"},
		{payload: &choir.RunFinished{Outcome: choir.OutcomeCancelled}, told: Told{Sentence: "runStopped"}, en: "You stopped the run", de: "Der Lauf wurde angehalten"},
		{payload: &choir.ToolCalled{Tool: "write_file", Input: choir.ToolInput{Path: "a.txt"}}, files: 1, told: Told{Sentence: "callFile", Tool: "write_file", About: []string{"a.txt"}},
			en: "write_file changed a.txt", de: "write_file änderte a.txt"},
		{payload: &choir.ToolCalled{Tool: "bash"}, files: 1, told: Told{Sentence: "call", Tool: "bash"}, en: "bash changed 1 file", de: "bash änderte 1 Datei"},
		{payload: &choir.CheckpointCreated{Subject: "checkpoint: 2026-11-24"}, told: Told{Sentence: "checkpoint"}, en: "Checkpoint", de: "Sicherungspunkt"},
		{payload: &choir.CheckpointCreated{Subject: "before lunch"}, told: Told{Sentence: "checkpointOf", About: []string{"before lunch"}}, en: "Checkpoint: before lunch", de: "Sicherungspunkt: before lunch"},
		{source: choir.SourceSystem, payload: &choir.TimelineRewound{}, told: Told{Sentence: "restored"}},
		{source: choir.SourceUser, payload: &choir.TimelineRewound{}, told: Told{Sentence: "wentBack"}, en: "You went back to an earlier moment"},
		{payload: &choir.DesktopUpgraded{Conflicts: []string{"a", "b"}}, files: 2, told: Told{Sentence: "upgradedLeft", About: []string{"a"}, More: 1},
			en: "Desktop's source upgraded: 2 paths, left as they are: a and 1 more"},
		{payload: &choir.CachesLeftOut{}, told: Told{Sentence: "cachesKept"}, en: "Every cache is kept again"},
		{payload: &choir.CachesLeftOut{Paths: []string{"a", "b"}, Over: []choir.LeftPath{{Path: "c"}, {Path: "d"}}}, told: Told{Sentence: "cachesLeft", About: []string{"a", "b", "c"}, More: 1},
			en: "Not kept from here on: a, b, c and 1 more"},
	} {
		told := tellEvent(&choir.Event{Source: c.source}, c.payload)
		if len(told.About) == 0 {
			told.About = nil
		}
		if !reflect.DeepEqual(told, c.told) {
			t.Errorf("%T is told as %+v, want %+v", c.payload, told, c.told)
		}
		m := Mark{Told: told, Files: c.files}
		if got := m.Say(names.English); c.en != "" && got != c.en {
			t.Errorf("%T is said %q, want %q", c.payload, got, c.en)
		}
		if got := m.Say(names.German); got == "" || c.de != "" && got != c.de {
			t.Errorf("%T is said %q, want %q", c.payload, got, c.de)
		}
	}
}

func TestStreaksAndPathsAreTold(t *testing.T) {
	f := &eventstore.Mark{Path: "a", Files: 3}
	if got, want := tellPaths("youChanged", f), (Told{Sentence: "youChanged", About: []string{"a"}, More: 2}); !reflect.DeepEqual(got, want) {
		t.Errorf("told as %+v, want %+v", got, want)
	}
	if got := tellPaths("outside", &eventstore.Mark{}); !reflect.DeepEqual(got, Told{Sentence: "outside"}) {
		t.Errorf("no paths are told as %+v", got)
	}
	mine := Mark{Kind: eventstore.MarkDocument, Told: tellStreak(f, "removed", []string{""}, 0)}
	if got := mine.Say(names.English); got != "You removed a document" {
		t.Errorf("said %q", got)
	}
	f.Run = choir.ID("01900000-0000-7000-8000-00000000000a")
	runs := Mark{Kind: eventstore.MarkWindows, Told: tellStreak(f, "opened", []string{"terminal", ""}, 1)}
	if got := runs.Say(names.English); got != "The run opened Terminal, a window and 1 more" {
		t.Errorf("said %q", got)
	}
}

func TestASentenceOfALaterChoirIsSaidInTheWordsOfTheLog(t *testing.T) {
	m := Mark{Text: "something new", Told: Told{Sentence: "later"}}
	if got := m.Say(names.German); got != "something new" {
		t.Errorf("said %q", got)
	}
}
