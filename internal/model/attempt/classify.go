package attempt

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"choiros/internal/choir"
)

// Status returns the failure for an HTTP status. kind is the provider's name of the
// error, or "", and message its text. A conversation that is longer than the model can
// read has code too_large, whatever status says so.
func Status(status int, header http.Header, kind, message string) *Failure {
	f := &Failure{After: retryAfter(header, time.Now()), Status: status}
	if tooLong(status, kind, message) {
		f.Err = quoting(reason(kind, message), choir.ReasonConversationLong, choir.TextOf("status", status))
		return f
	}
	why := choir.ReasonModelFailed
	switch {
	case status == 402 || kind == "insufficient_quota" || kind == "billing_error":
		why = choir.ReasonNoCredit
	case status == 401 || status == 403:
		why = choir.ReasonKeyRefused
	case status == 429 || status == 529 || status == 503:
		why, f.Retry = choir.ReasonModelOverloaded, true
	case status == 404:
		why = choir.ReasonModelNotThere
	case status == 408 || status == 409 || status >= 500:
		f.Retry = true
	case status >= 400:
		why = choir.ReasonModelRefused
	}
	f.Err = quoting(reason(kind, message), why, choir.TextOf("status", fmt.Sprintf("%d %s", status, http.StatusText(status))))
	if f.Err.Remedy == "" && f.Retry && f.After > 0 {
		f.Err = f.Err.WithRemedy("the provider asks to wait %s", f.After)
	}
	return f
}

// quoting returns the refusal for a reason, with words of the provider behind its English
// sentence. They are in no value of the reason: they may hold the key, until Redact takes
// it out.
func quoting(words string, why choir.Reason, values ...choir.Value) *choir.Error {
	e := choir.Refuse("model.stream", why, values...)
	e.Msg += ": " + words
	return e
}

// overflows are the words with which services say that a request is longer than their
// model can read.
var overflows = []string{
	"prompt is too long", "input is too long", "maximum context length", "context_length_exceeded", "context window", "context size",
	"exceeded model token limit", "exceeds max length", "model_context_window_exceeded", "request_too_large", "too many input tokens",
}

// tooLong reports whether an error says that the request is longer than the service or
// its model can read.
func tooLong(status int, kind, message string) bool {
	if status == 413 {
		return true
	}
	said := strings.ToLower(kind + " " + message)
	return status == 400 && slices.ContainsFunc(overflows, func(w string) bool { return strings.Contains(said, w) })
}

// kinds maps providers' names of errors within a stream to the HTTP status that the same
// error has before a stream.
var kinds = map[string]int{
	"overloaded_error": 529, "rate_limit_error": 429, "api_error": 500, "timeout_error": 500,
	"authentication_error": 401, "permission_error": 403, "billing_error": 402,
	"invalid_request_error": 400, "request_too_large": 413, "context_length_exceeded": 413, "not_found_error": 404,
	"insufficient_quota": 402, "rate_limit_exceeded": 429, "server_error": 500, "invalid_api_key": 401,
	"throttlingException": 429, "serviceUnavailableException": 503, "internalServerException": 500,
	"modelStreamErrorException": 500, "modelTimeoutException": 500, "validationException": 400,
}

// Event returns the failure for an error event within a stream.
func Event(kind, message string) *Failure {
	status, ok := kinds[kind]
	if !ok {
		status = 500
	}
	f := Status(status, nil, kind, message)
	f.Err.Msg = "the provider ended the stream with an error: " + reason(kind, message)
	return f
}

// Broken returns the failure for a connection that failed or a stream that broke off. It
// cannot be retried if the address is wrong. A *Failure within err is returned itself.
func Broken(ctx context.Context, err error) *Failure {
	var f *Failure
	if errors.As(err, &f) {
		return f
	}
	if why := permanentReason(err); why != "" {
		e := choir.Refuse("model.stream", choir.ReasonModelUnreachable)
		e.Msg += ": " + why
		return &Failure{Err: e}
	}
	return &Failure{Retry: ctx.Err() == nil, Err: quoting(err.Error(), choir.ReasonModelConnectionBroke)}
}

// permanentReason returns the reason why a connection failed if another attempt would
// fail too; "" if it may succeed.
func permanentReason(err error) string {
	var name *net.DNSError
	var op *net.OpError
	var tlsErr *tls.CertificateVerificationError
	var refused *choir.Error
	switch {
	case errors.As(err, &name) && name.IsNotFound:
		return "there is no host " + name.Name
	case errors.As(err, &tlsErr):
		return "its certificate is not valid: " + tlsErr.Err.Error()
	case !errors.As(err, &op) || op.Op != "dial" || op.Addr == nil:
		return ""
	case errors.As(err, &refused):
		return refused.Msg
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nothing listens at " + op.Addr.String() + " (connection refused)"
	}
	return ""
}

// Cut returns the failure for a stream that ended without its closing message.
func Cut() *Failure {
	return &Failure{Retry: true, Err: choir.Refuse("model.stream", choir.ReasonModelStreamCut)}
}

// Malformed returns the failure for an answer that violates the wire format.
func Malformed(what string) *Failure {
	return &Failure{Err: quoting(what, choir.ReasonModelStreamMalformed)}
}

// Redact replaces secrets in the failure's message and remedy, and shortens the message.
// It must be called before the failure is logged.
func (f *Failure) Redact(secrets ...string) *Failure {
	for _, s := range secrets {
		if len(s) < 4 {
			continue
		}
		for _, form := range []string{s, url.QueryEscape(s), url.PathEscape(s)} {
			f.Err.Msg = strings.ReplaceAll(f.Err.Msg, form, "[key]")
			f.Err.Remedy = strings.ReplaceAll(f.Err.Remedy, form, "[key]")
		}
	}
	f.Err.Msg = clip(f.Err.Msg)
	return f
}

// reason returns a provider's message, or its kind without a message.
func reason(kind, message string) string {
	switch {
	case message == "" && kind == "":
		return "it gave no reason"
	case message == "":
		return kind
	}
	return message
}

// maxReason is the maximum length of a provider's message, in bytes.
const maxReason = 1000

// clip shortens a text to maxReason bytes of valid UTF-8.
func clip(s string) string {
	if len(s) > maxReason {
		s = s[:maxReason] + "..."
	}
	return strings.ToValidUTF8(s, "?")
}

// retryAfter returns the wait that an answer's headers ask for, as seconds, a date or
// milliseconds; 0 if none.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return time.Duration(min(ms, 1e9) * float64(time.Millisecond))
	}
	v := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(v, 64); err == nil && s > 0 {
		return time.Duration(min(s, 1e6) * float64(time.Second))
	}
	if t, err := http.ParseTime(v); err == nil && t.After(now) {
		return t.Sub(now)
	}
	return 0
}

// Redacted redacts the *Failure within err and returns it; other errors are returned
// unchanged.
func Redacted(err error, secrets ...string) error {
	var f *Failure
	if errors.As(err, &f) {
		return f.Redact(secrets...)
	}
	return err
}
