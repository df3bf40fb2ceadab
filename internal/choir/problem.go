package choir

import (
	"errors"
	"strings"
)

// Problem is an Error on the wire, without what only the log should hold.
type Problem struct {
	Code    Code   `json:"code" choir:"len=1..40" doc:"Stable reason."`
	Message string `json:"message" choir:"len=0..4000" doc:"What happened, to what."`
	Path    string `json:"path,omitempty" choir:"len=1..4096" doc:"Field or thing it is about."`
	Remedy  string `json:"remedy,omitempty" choir:"len=1..2000" doc:"What to do next."`
	First   *First `json:"first,omitempty" doc:"For an append that is a conflict: the event that is in the log in its place."`
}

// ProblemOf is the problem an error is answered with; nil for nil. The cause of
// an internal error stays here: it may name files of the host.
func ProblemOf(err error) *Problem {
	if err == nil {
		return nil
	}
	var e *Error
	if !errors.As(err, &e) || e.Code == CodeInternal {
		return &Problem{Code: CodeInternal, Message: "something in choir failed", Remedy: "see the log of choir"}
	}
	bare := *e
	bare.Path, bare.Remedy, bare.Op = "", "", ""
	message, remedy := bare.Error(), e.Remedy
	if remedy == "" {
		remedy = remedyOf(e)
		message = strings.Replace(message, " ("+remedy+")", "", 1)
	}
	return &Problem{Code: e.Code, Message: cut(message, 4000), Path: cut(e.Path, 4096), Remedy: cut(remedy, 2000), First: FirstOf(err)}
}

// remedyOf is what the cause says to do, while it is the cause's code that is told.
func remedyOf(e *Error) string {
	for cause := e; cause.Code == e.Code; {
		if cause.Remedy != "" {
			return cause.Remedy
		}
		var next *Error
		if !errors.As(cause.Err, &next) {
			break
		}
		cause = next
	}
	return ""
}

// Err is the error a problem stands for; nil for nil.
func (p *Problem) Err() error {
	if p == nil {
		return nil
	}
	return &Error{Code: p.Code, Path: p.Path, Msg: p.Message, Remedy: p.Remedy, First: p.First}
}
