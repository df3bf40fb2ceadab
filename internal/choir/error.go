package choir

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Code is a stable reason from a closed list, for programs; people read the
// message.
type Code string

// The codes.
const (
	CodeInvalid         Code = "invalid"          // a value was refused; Path names it
	CodeTooLarge        Code = "too_large"        // over a stated limit
	CodeNotFound        Code = "not_found"        // no such thing
	CodeConflict        Code = "conflict"         // the thing changed meanwhile, or exists
	CodeForbidden       Code = "forbidden"        // this role may not do that
	CodeUnauthenticated Code = "unauthenticated"  // who you are is not known
	CodeRateLimited     Code = "rate_limited"     // too many, try later
	CodeUnavailable     Code = "unavailable"      // not here: missing part, feature or machine ability
	CodeBusy            Code = "busy"             // another one holds it
	CodeCancelled       Code = "cancelled_by_you" // the caller stopped it
	CodeTimeout         Code = "timeout"          // it took longer than allowed
	CodeNoSpace         Code = "no_space"         // the disk is full
	CodeCorrupt         Code = "corrupt"          // stored bytes are not what was stored
	CodeNeedsInput      Code = "needs_user"       // only the user can answer
	CodeRefused         Code = "refused"          // policy says no
	CodeProvider        Code = "provider_error"   // the model provider failed
	CodeOverloaded      Code = "overloaded"       // the model provider is over its limit
	CodeBudget          Code = "budget"           // a limit on steps, tokens, time or cost
	CodeInvalidPlan     Code = "invalid_plan"     // no plan of the model held
	CodeUnmet           Code = "criteria_unmet"   // the work was done and is not what was asked
	CodeUnmatched       Code = "unmatched"        // the recording has no such request
	CodeInternal        Code = "internal"         // a defect of ours
)

// Error is the one error type: what failed, a stable code, the field or thing
// it is about, a message for people, and what to do next.
type Error struct {
	Op     string // operation, such as "journal.append"
	Code   Code
	Path   string  // field or thing, such as "verify_profile.commands[0].argv"
	Msg    string  // what happened, to what
	Remedy string  // what to do next, or empty
	Reason Reason  // what happened, for sentences in other languages; empty for most
	Values []Value // what fills the sentence of Reason
	First  *First  // the event that is in the log in place of a refused one, or nil
	Err    error   // cause, or nil
}

func (e *Error) Error() string {
	var b strings.Builder
	if e.Op != "" {
		b.WriteString(e.Op + ": ")
	}
	if e.Path != "" && !e.namesPath() {
		b.WriteString(e.Path + " ")
	}
	b.WriteString(e.Msg)
	if e.Err != nil {
		if e.Msg != "" {
			b.WriteString(": ")
		}
		b.WriteString(e.Err.Error())
	}
	if e.Remedy != "" {
		b.WriteString(" (" + e.Remedy + ")")
	}
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }

// namesPath reports whether the sentence of the error's reason names its path.
func (e *Error) namesPath() bool {
	return slices.ContainsFunc(e.Values, func(v Value) bool { return v.Kind == ValueText && v.Name != fieldName && v.Text == e.Path })
}

// E returns an Error with an operation, a code and a formatted message.
func E(op string, code Code, format string, args ...any) *Error {
	return &Error{Op: op, Code: code, Msg: fmt.Sprintf(format, args...)}
}

// Wrap returns an Error with an operation, a code and a message whose cause is err. An
// empty code means the code of err. A nil err gives nil.
func Wrap(op string, code Code, err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	if code == "" {
		code = CodeOf(err)
	}
	return &Error{Op: op, Code: code, Msg: fmt.Sprintf(format, args...), Err: err}
}

// WithRemedy sets the error's remedy, the advice what to do next, and returns the same
// error.
func (e *Error) WithRemedy(format string, args ...any) *Error {
	e.Remedy = fmt.Sprintf(format, args...)
	return e
}

// Invalid returns an Error with code invalid about the field at path.
func Invalid(path, format string, args ...any) *Error {
	return &Error{Code: CodeInvalid, Path: path, Msg: fmt.Sprintf(format, args...)}
}

// Under returns a copy of the first *Error in err's chain with parent prefixed to its
// path. An error without an *Error is returned unchanged.
func Under(parent string, err error) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	c := *e
	switch {
	case c.Path == "" || c.Path == "$":
		c.Path = parent
	case strings.HasPrefix(c.Path, "["):
		c.Path = parent + c.Path
	default:
		c.Path = parent + "." + c.Path
	}
	return &c
}

// CodeOf returns the code of the first *Error in err's chain, else cancelled_by_you or
// timeout for a context's error, else internal. It is empty for nil.
func CodeOf(err error) Code {
	var e *Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &e):
		return e.Code
	case errors.Is(err, context.Canceled):
		return CodeCancelled
	case errors.Is(err, context.DeadlineExceeded):
		return CodeTimeout
	}
	return CodeInternal
}

// codeTable maps each code to its HTTP status, its exit code and whether a retry of the
// same call may succeed.
var codeTable = map[Code]struct {
	http, exit int
	retry      bool
}{
	CodeInvalid:         {422, 2, false},
	CodeTooLarge:        {413, 2, false},
	CodeNotFound:        {404, 1, false},
	CodeConflict:        {409, 1, false},
	CodeForbidden:       {403, 4, false},
	CodeUnauthenticated: {401, 4, false},
	CodeRateLimited:     {429, 1, true},
	CodeUnavailable:     {503, 5, false},
	CodeBusy:            {503, 1, true},
	CodeCancelled:       {409, 1, false},
	CodeTimeout:         {504, 1, true},
	CodeNoSpace:         {507, 1, true},
	CodeCorrupt:         {500, 1, false},
	CodeNeedsInput:      {409, 3, false},
	CodeRefused:         {403, 4, false},
	CodeProvider:        {502, 1, true},
	CodeOverloaded:      {503, 1, true},
	CodeBudget:          {403, 1, false},
	CodeInvalidPlan:     {502, 1, false},
	CodeUnmet:           {502, 1, false},
	CodeUnmatched:       {502, 1, false},
	CodeInternal:        {500, 1, false},
}

// Codes lists every code, sorted.
func Codes() []Code { return slices.Sorted(maps.Keys(codeTable)) }

// Known reports whether the code is one of the declared codes.
func (c Code) Known() bool {
	_, known := codeTable[c]
	return known
}

// HTTPStatus returns the HTTP status for responses with this code; 500 for an unknown
// code.
func (c Code) HTTPStatus() int {
	if row, ok := codeTable[c]; ok {
		return row.http
	}
	return 500
}

// ExitCode returns the CLI's exit status for this code: 1 failed, 2 usage, 3 needs input,
// 4 refused by policy, 5 unavailable here.
func (c Code) ExitCode() int {
	if row, ok := codeTable[c]; ok {
		return row.exit
	}
	return 1
}

// Retry reports whether a retry of the same call may succeed.
func (c Code) Retry() bool { return codeTable[c].retry }
