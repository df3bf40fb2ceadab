package timeline

import (
	"encoding/json"
	"strings"
	"testing"

	"choiros/internal/choir"
)

func TestSentencesForPeople(t *testing.T) {
	for want, p := range map[string]choir.Payload{
		"you asked: make it work":                                    choir.PromptSubmitted{Text: "make\n  it work"},
		"you stopped it: a rewind":                                   choir.RunCancelRequested{Reason: "a rewind"},
		"you stopped it":                                             choir.RunCancelRequested{},
		"wrote a.txt and 1 more":                                     choir.FileWritten{Snapshot: choir.DigestOf(nil), Files: []choir.FileState{{Path: "a.txt", Kind: "dir"}, {Path: "b", Kind: "dir"}}},
		"removed a.txt":                                              choir.FileRemoved{Snapshot: choir.DigestOf(nil), Paths: []string{"a.txt"}},
		"rewound to event 7: 3 paths":                                choir.TimelineRewound{ToSeq: 7, Files: 3, Snapshot: choir.DigestOf(nil), Before: choir.DigestOf(nil)},
		"tool bash go test":                                          choir.ToolCalled{Call: "00000000-0000-7000-8000-000000000001", Tool: "bash", Input: choir.ToolInput{Command: "go test"}},
		"window opened by a run: terminal":                           choir.WindowOpened{Window: "00000000-0000-7000-8000-000000000001", App: "terminal", Bounds: choir.Rect{Width: 1, Height: 1}, Run: "00000000-0000-7000-8000-000000000002"},
		"window opened: files: home":                                 choir.WindowOpened{Window: "00000000-0000-7000-8000-000000000001", App: "files", Title: "home", Bounds: choir.Rect{Width: 1, Height: 1}},
		"the Associate says: I look first, then I write.":            choir.TaskProgressed{Kind: "progress", Text: "I look first,\n then I write."},
		"the Associate asks (approval): May I?":                      choir.TaskProgressed{Kind: "request", Request: "approval", Text: "May I?"},
		"finished: failed; the model said, unchecked: I cannot. Or?": choir.RunFinished{Outcome: choir.OutcomeFailed, Said: "I cannot.\nOr?"},
		"finished: done":                                             choir.RunFinished{Outcome: choir.OutcomeDone},
		"finished: partly done":                                      choir.RunFinished{Outcome: choir.OutcomeDone, Status: choir.AnsweredPartly},
		"finished: not done":                                         choir.RunFinished{Outcome: choir.OutcomeDone, Status: choir.AnsweredNotDone},
		"":                                                           choir.WindowFocused{Window: "00000000-0000-7000-8000-000000000001"},
		"you asked: " + strings.Repeat("ü", 117) + "...":             choir.PromptSubmitted{Text: strings.Repeat("ü", 121)},
	} {
		raw, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		if got := Say(&choir.Event{Type: p.EventType(), Payload: raw}); got != want {
			t.Errorf("%s: %q, want %q", p.EventType(), got, want)
		}
	}
	if got := Say(&choir.Event{Type: "what.ever"}); got != "what.ever" {
		t.Errorf("an unknown event: %q", got)
	}
}

func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 535: "535 B", 999: "999 B", 1000: "1 kB", 12_345: "12.3 kB", 999_949: "999.9 kB", 999_950: "1 MB", 4_100_000: "4.1 MB", 2_000_000_000: "2 GB", 7 << 50: "7881.3 TB"} {
		if got := Bytes(n); got != want {
			t.Errorf("%d bytes: %q, want %q", n, got, want)
		}
	}
}
