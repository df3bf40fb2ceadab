// Package logbook is what choir says of its own doings: records of one shape, for
// people on the standard error and for programs in a file of bounded size. A record is
// a sentence that stands in the source, and attributes of the table Keys.
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

// Value says what the values of an attribute are.
type Value int

// The values. Only Private ones may hold what a person, a guest or another program
// wrote: they stay on this machine.
const (
	ID      Value = iota + 1 // the id of a computer, a run, a task and the like
	Word                     // one of a closed list of choir's own: a role, a verb, a code
	Number                   // a number
	Failure                  // an error: its code, its operation and its kind, and its text, which is private
	Private                  // anything else
)

// Keys are the attributes that records may have. A test of tools holds each record of
// the source against them.
var Keys = map[string]Value{
	"computer": ID, "run": ID, "task": ID, "fork": ID, "terminal": ID,
	"role": Word, "verb": Word, "type": Word, "projection": Word, "source": Word, "kind": Word, "method": Word,
	"event": Number, "exit": Number, "failures": Number, "moments": Number, "objects": Number, "bytes": Number, "asked_mib": Number, "given_mib": Number,
	"error": Failure,
	"name":  Private, "path": Private, "store": Private, "subject": Private, "reply": Private, "output": Private, "stack": Private, "said": Private,
}

// New makes the logger: warnings and errors as text for people, and from the level
// info on as JSON, one record a line, for the file.
func New(people, file io.Writer) *slog.Logger {
	return slog.New(slog.NewMultiHandler(
		slog.NewTextHandler(people, &slog.HandlerOptions{Level: slog.LevelWarn}),
		slog.NewJSONHandler(file, &slog.HandlerOptions{Level: slog.LevelInfo, ReplaceAttr: taken}),
	))
}

// taken writes an error apart: what may leave this machine, and its text.
func taken(groups []string, a slog.Attr) slog.Attr {
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

// root is the first cause of an error.
func root(err error) error {
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return err
		}
		err = next
	}
}
