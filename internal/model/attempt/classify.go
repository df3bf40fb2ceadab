package attempt

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"choiros/internal/choir"
	"choiros/internal/names"
)

// What helps against a refused key and against a dead address, wherever the
// model was connected. Who connects one in a form says it in the form's words.
const (
	CheckKey     = "check the provider's key under " + names.ModelsPlace
	CheckAddress = "start it there, or correct its address under " + names.ModelsPlace
)

// Status is the failure that an HTTP status means. message is the provider's
// own reason; kind its name for it, or empty.
func Status(status int, header http.Header, kind, message string) *Failure {
	f := &Failure{After: retryAfter(header, time.Now())}
	code, remedy := choir.CodeProvider, ""
	switch {
	case status == 402 || kind == "insufficient_quota" || kind == "billing_error":
		code, remedy = choir.CodeRefused, "the account of the key has no credit left"
	case status == 401 || status == 403:
		code, remedy = choir.CodeRefused, CheckKey
	case status == 429 || status == 529 || status == 503:
		code, f.Retry = choir.CodeOverloaded, true
	case status == 404:
		code, remedy = choir.CodeInvalid, "check the model's name and the provider's base URL"
	case status == 408 || status == 409 || status >= 500:
		f.Retry = true
	case status >= 400:
		code = choir.CodeInvalid
	}
	f.Err = choir.E("model.stream", code, "the provider answered %d %s: %s", status, http.StatusText(status), reason(kind, message))
	if remedy != "" {
		f.Err = f.Err.WithRemedy("%s", remedy)
	} else if f.Retry && f.After > 0 {
		f.Err = f.Err.WithRemedy("the provider asks to wait %s", f.After)
	}
	return f
}

// kinds are the names that providers give errors in the middle of a stream, as
// the status they would have had at its beginning.
var kinds = map[string]int{
	"overloaded_error": 529, "rate_limit_error": 429, "api_error": 500, "timeout_error": 500,
	"authentication_error": 401, "permission_error": 403, "billing_error": 402,
	"invalid_request_error": 400, "request_too_large": 413, "not_found_error": 404,
	"insufficient_quota": 402, "rate_limit_exceeded": 429, "server_error": 500, "invalid_api_key": 401,
	"throttlingException": 429, "serviceUnavailableException": 503, "internalServerException": 500,
	"modelStreamErrorException": 500, "modelTimeoutException": 500, "validationException": 400,
}

// Event is the failure that an error event inside a stream means.
func Event(kind, message string) *Failure {
	status, ok := kinds[kind]
	if !ok {
		status = 500
	}
	f := Status(status, nil, kind, message)
	f.Err.Msg = "the provider ended the stream with an error: " + reason(kind, message)
	return f
}

// Broken is the failure of a connection or a stream that broke.
func Broken(ctx context.Context, err error) *Failure {
	var f *Failure
	if errors.As(err, &f) {
		return f
	}
	if why := certain(err); why != "" {
		return &Failure{Err: choir.E("model.stream", choir.CodeUnavailable, "the provider cannot be reached: %s", why).
			WithRemedy("%s", CheckAddress)}
	}
	return &Failure{Retry: ctx.Err() == nil, Err: choir.E("model.stream", choir.CodeProvider,
		"the connection to the provider broke: %s", err)}
}

// certain says why no connection came about when the next attempt would fail in
// the same way; empty when it may not.
func certain(err error) string {
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

// Cut is the failure of a stream that ended without its closing message.
func Cut() *Failure {
	return &Failure{Retry: true, Err: choir.E("model.stream", choir.CodeProvider, "the provider's stream was cut before its end")}
}

// Malformed is the failure of an answer that is not what the wire format says.
func Malformed(what string) *Failure {
	return &Failure{Err: choir.E("model.stream", choir.CodeProvider, "the provider sent a malformed stream: %s", what)}
}

// Redact takes secrets out of everything the failure says. It is called before
// anything is clipped or logged.
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

func reason(kind, message string) string {
	switch {
	case message == "" && kind == "":
		return "it gave no reason"
	case message == "":
		return kind
	}
	return message
}

// maxReason bounds a provider's reason, in bytes.
const maxReason = 1000

func clip(s string) string {
	if len(s) > maxReason {
		s = s[:maxReason] + "..."
	}
	return strings.ToValidUTF8(s, "?")
}

// retryAfter is how long the provider asks to wait: seconds, a date, or the
// milliseconds that some providers add.
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

// Redacted takes secrets out of the failure that err is.
func Redacted(err error, secrets ...string) error {
	var f *Failure
	if errors.As(err, &f) {
		return f.Redact(secrets...)
	}
	return err
}
