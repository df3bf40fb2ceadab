// Package logbook writes choir's own log: records of one form, for people to standard error and for
// programs to a file of limited size. A record is a constant sentence with attributes of the table
// Keys.
package logbook

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"syscall"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
)

// Value is the kind of an attribute's values, which decides whether they may leave the machine.
type Value int

// The kinds. Only Private values may hold text of people, guests or other programs: they do not
// leave the machine.
const (
	ID      Value = iota + 1 // the id of a computer, a run, a task and the like
	Word                     // one of a closed list of choir's own: a role, a verb, a code
	Number                   // a number
	Failure                  // an error: its code, its operation and its kind, and its text, which is private
	Private                  // anything else
)

// Keys lists the attributes that records may have. A test in tools checks every record in the
// source against it.
var Keys = map[string]Value{
	"computer": ID, "run": ID, "task": ID, "fork": ID, "terminal": ID,
	"role": Word, "verb": Word, "type": Word, "projection": Word, "source": Word, "kind": Word, "method": Word,
	"event": Number, "exit": Number, "failures": Number, "moments": Number, "objects": Number, "bytes": Number, "asked_mib": Number, "given_mib": Number,
	"error": Failure,
	"name":  Private, "path": Private, "store": Private, "subject": Private, "reply": Private, "output": Private, "stack": Private, "said": Private,
}

// New returns a logger that writes warnings and errors as text to people, and records from level
// info on as JSON lines to file.
func New(people, file io.Writer) *slog.Logger {
	return slog.New(slog.NewMultiHandler(
		slog.NewTextHandler(people, &slog.HandlerOptions{Level: slog.LevelWarn}),
		slog.NewJSONHandler(file, &slog.HandlerOptions{Level: slog.LevelInfo, ReplaceAttr: splitError}),
	))
}

// splitError replaces an error's value by a group of its code, operation and kind, which may leave the
// machine, and its text, which may not. It leaves other attributes unchanged.
func splitError(groups []string, a slog.Attr) slog.Attr {
	err, ok := a.Value.Any().(error)
	if !ok || len(groups) > 0 {
		return a
	}
	op, kind := "", ""
	var ours *choir.Error
	if errors.As(err, &ours) {
		op = ours.Op
	}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		kind = unix.ErrnoName(errno)
	} else {
		kind = fmt.Sprintf("%T", root(err))
	}
	a.Value = slog.GroupValue(slog.String("code", string(choir.CodeOf(err))), slog.String("op", op), slog.String("kind", kind), slog.String("text", err.Error()))
	return a
}

// root returns the innermost error of a chain.
func root(err error) error {
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return err
		}
		err = next
	}
}
