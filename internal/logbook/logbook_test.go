package logbook_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/logbook"
)

const (
	computer = "019aa000-0000-7000-8000-000000000001"
	private  = "zq-private-41d0"
)

func TestARecordIsTextForPeopleAndOneShapeForPrograms(t *testing.T) {
	t.Parallel()
	var people, file bytes.Buffer
	log := logbook.New(&people, &file)
	cause := &os.PathError{Op: "open", Path: "/home/" + private, Err: errors.New("no")}
	log.Info("collected", "computer", computer, "bytes", 12)
	log.Warn("the relay lost the bus and comes back", "computer", computer, "error", choir.Wrap("bus.publish", choir.CodeUnavailable, cause, "publish %s", private))
	if got := people.String(); strings.Contains(got, "collected") || !strings.Contains(got, "level=WARN") || !strings.Contains(got, private) {
		t.Errorf("people read %s", got)
	}
	var got struct {
		Msg, Computer string
		Error         struct{ Code, Op, Kind, Text string }
	}
	written := bytes.Split(bytes.TrimSpace(file.Bytes()), []byte("\n"))
	if err := json.Unmarshal(written[len(written)-1], &got); err != nil || len(written) != 2 {
		t.Fatalf("%d records, %v: %s", len(written), err, file.Bytes())
	}
	if e := got.Error; e.Code != "unavailable" || e.Op != "bus.publish" || e.Kind != "*errors.errorString" || !strings.Contains(e.Text, private) || got.Computer != computer {
		t.Errorf("%+v", got)
	}
}

func TestTheTailHoldsNothingPrivate(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "choir.log")
	f := logbook.NewFile(path, logbook.FileBytes)
	var people bytes.Buffer
	log := logbook.New(&people, f)
	for key := range logbook.Keys {
		for _, value := range []any{private, errors.New(private), choir.E(private, private, "%s", private), 7} {
			log.Error("a command failed", key, value)
		}
	}
	log.Warn("role exited", "computer", computer, "role", choir.RoleDirector, "exit", 3, "output", private, "nobody knows this key", private)
	log.Warn("a command failed", "error", choir.Wrap("bus.publish", choir.CodeBusy, os.ErrNotExist, "%s", private))
	for _, line := range []string{
		private, `{"time":"` + private + `","level":"WARN","msg":"x"}`, `{"time":"2026-11-23T16:00:00Z","level":"WARN","msg":"/home/` + private + `"}`,
		`{"time":"2026-11-23T16:00:00Z","level":"` + private + `","msg":"x"}`, `{"time":"2026-11-23T16:00:00Z","level":"WARN","msg":"x","` + private + `":1}`,
	} {
		fmt.Fprintln(f, line)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	entries, skipped, err := logbook.Tail(path, 1000)
	if err != nil || skipped != 4 {
		t.Fatalf("%d lines were passed over, %v", skipped, err)
	}
	raw, err := json.Marshal(entries)
	if err != nil || strings.Contains(string(raw), "/home") {
		t.Errorf("%v %s", err, raw)
	}
	// A word is kept where a list of choir's own has it: nothing private is logged as one.
	for _, e := range entries {
		for key, value := range e.Attributes {
			if strings.Contains(value, private) && logbook.Keys[key] != logbook.Word && key != "error.op" {
				t.Errorf("%s of %q is %q", key, e.Message, value)
			}
		}
	}
	last := entries[len(entries)-2]
	if last.Attributes["error.code"] != "busy" || last.Attributes["error.op"] != "bus.publish" || last.Message != "a command failed" {
		t.Errorf("%+v", last)
	}
}

func TestTheFileIsBoundedAndItsOwners(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "choir.log")
	f := logbook.NewFile(path, 1000)
	record := func(n int) string {
		return fmt.Sprintf(`{"time":"2026-11-23T16:00:00Z","level":"WARN","msg":"a command failed","exit":%d}`, n) + "\n"
	}
	for n := range 100 {
		if n == 50 { // as after a start
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			f = logbook.NewFile(path, 1000)
		}
		if _, err := f.Write([]byte(record(n))); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{path, path + ".1"} {
		info, err := os.Stat(name)
		if err != nil || info.Size() > 1000 || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", name, info, err)
		}
	}
	entries, skipped, err := logbook.Tail(path, 5)
	if err != nil || skipped != 0 || len(entries) != 5 || entries[4].Attributes["exit"] != "99" || entries[0].Attributes["exit"] != "95" {
		t.Errorf("%+v %d %v", entries, skipped, err)
	}
	if none, _, err := logbook.Tail(filepath.Join(t.TempDir(), "none"), 5); err != nil || len(none) != 0 {
		t.Errorf("%v %v", none, err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
