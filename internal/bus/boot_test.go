package bus_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"choiros/internal/bus"
	"choiros/internal/choir"
)

func sampleBoot() bus.Boot {
	return bus.Boot{
		User: userID, Computer: computerID, Role: choir.RoleDirector,
		Credentials: bus.Credentials{JWT: "eyJ", Seed: "SUAsecret", Connection: "abc", Inbox: "_INBOX_abc", Expires: 1_700_000_000_000},
		Limits:      choir.RunLimits{Steps: 50, CostUSD: 1.5, Tasks: 3},
		Start:       bus.Start{After: 7, Projects: []string{"hello"}},
	}
}

func line(t testing.TB, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw) + "\n"
}

func TestABootLineAndTheCredentialsAfterIt(t *testing.T) {
	t.Parallel()
	boot := sampleBoot()
	next := boot.Credentials
	next.Connection, next.Inbox = "def", "_INBOX_def"
	// A buffer smaller than a line must not matter.
	r := bufio.NewReaderSize(strings.NewReader(line(t, boot)+line(t, next)), 16)
	if got, err := bus.ReadBoot(r); err != nil || !reflect.DeepEqual(got, boot) {
		t.Fatalf("got %+v, %v", got, err)
	}
	if got, err := bus.ReadCredentials(r); err != nil || got != next {
		t.Fatalf("got %+v, %v", got, err)
	}
	if _, err := bus.ReadCredentials(r); !errors.Is(err, io.EOF) {
		t.Fatalf("got %v, want EOF", err)
	}
}

func TestABootLineThatDoesNotHoldIsRefused(t *testing.T) {
	t.Parallel()
	good := line(t, sampleBoot())
	for name, c := range map[string]struct {
		in   string
		code choir.Code
		path string
	}{
		"unknown field": {strings.Replace(good, `{"user"`, `{"home":"x","user"`, 1), choir.CodeInvalid, "home"},
		"another role":  {strings.Replace(good, "director", "control", 1), choir.CodeInvalid, "role"},
		"no seed":       {strings.Replace(good, "SUAsecret", "", 1), choir.CodeInvalid, "credentials.seed"},
		"cut off":       {good[:40], choir.CodeInvalid, ""},
		"endless":       {strings.Repeat(" ", 300<<10) + "\n", choir.CodeTooLarge, ""},
	} {
		_, err := bus.ReadBoot(bufio.NewReader(strings.NewReader(c.in)))
		var e *choir.Error
		if !errors.As(err, &e) || e.Code != c.code || e.Path != c.path {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestCredentialsHideTheirSecretsInALog(t *testing.T) {
	t.Parallel()
	c := sampleBoot().Credentials
	for _, shown := range []string{fmt.Sprint(c), fmt.Sprintf("%v %+v %#v %s", c, c, c, c), fmt.Sprintf("%+v", sampleBoot())} {
		if strings.Contains(shown, c.Seed) || strings.Contains(shown, c.JWT) {
			t.Errorf("%s shows a secret", shown)
		}
	}
}

// FuzzReadBoot: an accepted line is the same again when it is written and read;
// a refusal says why with a code.
func FuzzReadBoot(f *testing.F) {
	f.Add(line(f, sampleBoot()))
	f.Add("{}\n")
	f.Add("\n")
	f.Fuzz(func(t *testing.T, in string) {
		b, err := bus.ReadBoot(bufio.NewReader(strings.NewReader(in)))
		if err != nil {
			var e *choir.Error
			if !errors.Is(err, io.EOF) && !errors.As(err, &e) {
				t.Fatalf("refused with %v", err)
			}
			return
		}
		again, err := bus.ReadBoot(bufio.NewReader(strings.NewReader(line(t, b))))
		if err != nil || !reflect.DeepEqual(again, b) {
			t.Fatalf("%+v became %+v, %v", b, again, err)
		}
	})
}
