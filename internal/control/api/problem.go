package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"choiros/internal/choir"
	"choiros/internal/computer/desk/drafts"
	"choiros/internal/eventstore"
)

// Problem is an RFC 9457 problem document with a stable code.
type Problem struct {
	Type   string     `json:"type" doc:"Always about:blank; the code is what programs read."`
	Title  string     `json:"title" doc:"Short words for the status."`
	Status int        `json:"status" doc:"HTTP status."`
	Detail string     `json:"detail" doc:"What happened, to what."`
	Code   choir.Code `json:"code" doc:"Stable reason."`
	Field  string     `json:"field,omitempty" doc:"The field or thing it is about."`
	Remedy string     `json:"remedy,omitempty" doc:"What to do next."`
	// Reason and Values say in other languages what Detail and Remedy say in English.
	Reason choir.Reason  `json:"reason,omitempty" doc:"What happened, from a closed list, for sentences in other languages than that of detail and remedy."`
	Values []choir.Value `json:"values,omitempty" doc:"What fills the sentences of the reason; texts are escaped."`
	// Digest is the current content of the file in conflict.
	Digest choir.Digest `json:"digest,omitempty" doc:"Content of the file that is there, in a conflict about one."`
	// Document is the newest version of the document in conflict.
	Document *eventstore.Document `json:"document,omitempty" doc:"Newest version of the document, in a conflict about a save; what you sent is the other side."`
	// Draft is the stored draft in conflict.
	Draft *drafts.Draft `json:"draft,omitempty" doc:"Draft that is there, in a conflict about one; what you sent is the other side."`
	// Conflicts are the paths changed on both sides that prevented an undo or a merge.
	Conflicts []PathConflict `json:"conflicts,omitempty" doc:"Paths that were changed on both sides; nothing was done."`

	cause error // of an internal error; logged and not sent
}

// Error implements error.
func (p *Problem) Error() string { return p.Detail }

// GetStatus implements huma.StatusError.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType implements huma.ContentTypeFilter.
func (p *Problem) ContentType(string) string { return "application/problem+json" }

// GetHeaders implements huma.HeadersError: a time to wait in the values, in seconds, is in the header
// Retry-After too.
func (p *Problem) GetHeaders() http.Header {
	for _, v := range p.Values {
		if v.Name == "wait" && v.Kind == choir.ValueCount {
			return http.Header{"Retry-After": {strconv.Itoa(int(v.Number))}}
		}
	}
	return nil
}

// ProblemOf converts an error into the problem that answers it. A Problem within err is
// returned itself.
func ProblemOf(err error) *Problem {
	var made *Problem
	if errors.As(err, &made) {
		return made
	}
	p := choir.ProblemOf(err)
	status := p.Code.HTTPStatus()
	return &Problem{
		Type: "about:blank", Title: http.StatusText(status), Status: status,
		Detail: p.Message, Code: p.Code, Field: p.Path, Remedy: p.Remedy, Reason: p.Reason, Values: p.Values, cause: err,
	}
}

// log logs the cause of an internal error, which the caller is not told. Other problems,
// and requests whose client disconnected, are not logged.
func (p *Problem) log(log *slog.Logger, r *http.Request) {
	// A client that went away is no failure of ours.
	if p.Code == choir.CodeInternal && log != nil && !errors.Is(p.cause, context.Canceled) {
		log.Error("a request failed", "method", r.Method, "path", r.URL.Path, "error", p.cause)
	}
}

// newError converts huma's own refusals, such as failed validation, into a Problem.
func newError(status int, msg string, errs ...error) huma.StatusError {
	p := &Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: msg, Code: codeFor(status)}
	var details []string
	for _, err := range errs {
		var d huma.ErrorDetailer
		if errors.As(err, &d) {
			detail := d.ErrorDetail()
			if p.Field == "" {
				p.Field = strings.TrimPrefix(detail.Location, "body.")
			}
			details = append(details, fmt.Sprintf("%s: %s", detail.Location, detail.Message))
		} else if err != nil {
			details = append(details, err.Error())
		}
	}
	if len(details) > 0 {
		p.Detail += ": " + strings.Join(details, "; ")
	}
	return p
}

// codeFor returns the code of an HTTP status; internal for unknown ones.
func codeFor(status int) choir.Code {
	switch status {
	case http.StatusNotFound:
		return choir.CodeNotFound
	case http.StatusRequestEntityTooLarge:
		return choir.CodeTooLarge
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusUnsupportedMediaType, http.StatusNotAcceptable:
		return choir.CodeInvalid
	case http.StatusUnauthorized:
		return choir.CodeUnauthenticated
	case http.StatusForbidden:
		return choir.CodeForbidden
	case http.StatusTooManyRequests:
		return choir.CodeRateLimited
	case http.StatusMethodNotAllowed:
		return choir.CodeInvalid
	case http.StatusConflict:
		return choir.CodeConflict
	case http.StatusRequestTimeout:
		return choir.CodeTimeout
	}
	return choir.CodeInternal
}
