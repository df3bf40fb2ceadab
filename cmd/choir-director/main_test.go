package main

import (
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
)

func TestABadBootLineIsRefusedByItsField(t *testing.T) {
	for line, want := range map[string]string{
		"{}\n":                  "computer",
		`{"user":1}` + "\n":     "user",
		`{"secret":"x"}` + "\n": "secret",
	} {
		err := run(t.Context(), strings.NewReader(line), nil, slog.New(slog.DiscardHandler))
		var e *choir.Error
		if !errors.As(err, &e) || e.Code != choir.CodeInvalid || e.Path != want {
			t.Errorf("%q: %v", line, err)
		}
	}
	if err := run(t.Context(), strings.NewReader(""), nil, slog.New(slog.DiscardHandler)); !errors.Is(err, io.EOF) {
		t.Errorf("no line: %v", err)
	}
}

func TestTheProcessIsNotDumpableBeforeItReads(t *testing.T) {
	seen := -1
	read := readerFunc(func([]byte) (int, error) {
		seen, _ = unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
		return 0, io.EOF
	})
	_ = run(t.Context(), read, nil, slog.New(slog.DiscardHandler)) // ends at once: nothing to read
	if seen != 0 {
		t.Errorf("dumpable is %d", seen)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
