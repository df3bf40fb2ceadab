package bus_test

import (
	"strings"
	"testing"

	"choiros/internal/bus"
	"choiros/internal/choir"
)

const (
	userID     = choir.ID("01a1fc18-a046-7d77-89f7-e432c199ef84")
	computerID = choir.ID("01a1fc18-a046-7fb1-b9ed-5b453396da36")
)

func TestAnEventGoesWhereItsRunSays(t *testing.T) {
	t.Parallel()
	e := choir.Event{User: userID, Computer: computerID, Type: "prompt.submitted"}
	if got, want := bus.SubjectFor(e), "user."+string(userID)+"."+string(computerID)+".prompt.submitted"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	e.Run = computerID
	if got, want := bus.SubjectFor(e), "agent."+string(userID)+"."+string(computerID)+"."+string(computerID)+".prompt.submitted"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestACommandThatDoesNotHoldIsRefused(t *testing.T) {
	t.Parallel()
	good := bus.CommandSubject(choir.Caller{User: userID, Computer: computerID, Role: choir.RoleCLI, Connection: "abc7"}, choir.VerbAppend)
	if _, _, err := bus.ParseCommand(good); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{
		"", "cmd", good + ".x", strings.TrimPrefix(good, "cmd."), "task" + good[3:],
		strings.Replace(good, string(userID), "*", 1), strings.Replace(good, string(computerID), "", 1),
		strings.Replace(good, ".cli.", ".root.", 1), strings.Replace(good, "abc7", "", 1),
		strings.Replace(good, "abc7", ">", 1), strings.Replace(good, "abc7", "ABC", 1),
		strings.Replace(good, "abc7", strings.Repeat("a", 65), 1), strings.Replace(good, ".append.", "..", 1),
	} {
		if c, _, err := bus.ParseCommand(bad); choir.CodeOf(err) != choir.CodeInvalid {
			t.Errorf("%q: got %+v, %v", bad, c, err)
		}
	}
}

// FuzzParseCommand: whatever is accepted is written the same way again, and
// stays within the inbox and the subjects of one connection.
func FuzzParseCommand(f *testing.F) {
	f.Add("cmd." + string(userID) + "." + string(computerID) + ".append.director.abc")
	f.Add("cmd.*.*.*.*.>")
	f.Add("cmd......")
	f.Fuzz(func(t *testing.T, subject string) {
		c, verb, err := bus.ParseCommand(subject)
		if err != nil {
			if choir.CodeOf(err) != choir.CodeInvalid {
				t.Fatalf("refused with %v", err)
			}
			return
		}
		if again := bus.CommandSubject(c, verb); again != subject {
			t.Fatalf("%q became %q", subject, again)
		}
		if strings.ContainsAny(bus.InboxPrefix(c.Connection), ".*> \t\r\n") {
			t.Fatalf("the inbox %q is more than one token", bus.InboxPrefix(c.Connection))
		}
	})
}
