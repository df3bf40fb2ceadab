package choir

import (
	"errors"
	"strings"
)

// Problem is an Error on the wire, without what only the log should hold.
type Problem struct {
	Code    Code    `json:"code" choir:"len=1..40" doc:"Stable reason."`
	Message string  `json:"message" choir:"len=0..4000" doc:"What happened, to what."`
	Path    string  `json:"path,omitempty" choir:"len=1..4096" doc:"Field or thing it is about."`
	Remedy  string  `json:"remedy,omitempty" choir:"len=1..2000" doc:"What to do next."`
	Reason  Reason  `json:"reason,omitempty" choir:"len=1..60" doc:"What happened, from a closed list, for sentences in other languages."`
	Values  []Value `json:"values,omitempty" choir:"len=0..8" doc:"What fills the sentence of the reason."`
	First   *First  `json:"first,omitempty" doc:"For an append that is a conflict: the event that is in the log in its place."`
}

// ProblemOf converts an error to the Problem sent to a client; nil for nil. An error
// without a code, or with code internal, gives a general message, because its text may
// name files of the host.
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
	reason, values := ReasonOf(err)
	return &Problem{Code: e.Code, Message: truncate(message, 4000), Path: truncate(e.Path, 4096), Remedy: truncate(remedy, 2000), Reason: reason, Values: values, First: FirstOf(err)}
}

// remedyOf returns the first remedy among the causes that share the error's code.
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

// Err converts a received Problem back to an error; nil for nil.
func (p *Problem) Err() error {
	if p == nil {
		return nil
	}
	return &Error{Code: p.Code, Path: p.Path, Msg: p.Message, Remedy: p.Remedy, Reason: p.Reason, Values: p.Values, First: p.First}
}
