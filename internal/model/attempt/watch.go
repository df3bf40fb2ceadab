package attempt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// maxBody and maxErrorBody are the maximum sizes of an answer and of an error body, in
// bytes.
const (
	maxBody      = 64 << 20
	maxErrorBody = 64 << 10
)

var errIdle = errors.New("the provider was silent for too long")

// watch observes the bytes of an attempt's answer and cancels the attempt when none
// arrive for idle.
type watch struct {
	idle time.Duration
	stop *time.Timer
	tail []byte // the last bytes, for Ended
	// sent is set when the service has the request, refused when it answered with an
	// error status. The transport's goroutines set sent.
	sent    atomic.Bool
	refused bool
}

const tailSize = 32

// observe restarts the idle timer and keeps the last tailSize bytes.
func (w *watch) observe(b []byte) {
	w.stop.Reset(w.idle)
	w.tail = append(w.tail, b[max(0, len(b)-tailSize):]...)
	if extra := len(w.tail) - tailSize; extra > 0 {
		w.tail = slices.Delete(w.tail, 0, extra)
	}
}

type watchKey struct{}

// watched runs one attempt and cancels it with code timeout when no data arrives for
// idle. began reports whether the service may have started an answer, which it bills.
func watched(ctx context.Context, idle time.Duration, on func(model.Delta), try Try) (resp model.Response, began bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w := &watch{idle: idle, stop: time.AfterFunc(idle, func() { cancel(errIdle) })}
	defer w.stop.Stop()
	resp, err = try(context.WithValue(ctx, watchKey{}, w), on)
	began = w.sent.Load() && !w.refused
	if err != nil && errors.Is(context.Cause(ctx), errIdle) {
		return resp, began, &Failure{Err: choir.Refuse("model.stream", choir.ReasonModelNothingFor, choir.SecondsOf("span", idle))}
	}
	return resp, began, err
}

// Ended reports whether the last bytes of the attempt's answer contain text. It
// distinguishes a complete stream from a stream that broke off.
func Ended(ctx context.Context, text string) bool {
	w, ok := ctx.Value(watchKey{}).(*watch)
	return ok && strings.Contains(string(w.tail), text)
}

// connectTimeout is the maximum time for establishing a connection.
const connectTimeout = 3 * time.Second

// NewClient returns an HTTP client with enough idle connections for many concurrent
// calls. control is called before each connection and may refuse its address; nil
// refuses none.
func NewClient(control func(network, address string, c syscall.RawConn) error) *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = 64
	t.DialContext = (&net.Dialer{Timeout: connectTimeout, KeepAlive: 30 * time.Second, Control: control}).DialContext
	return &http.Client{Transport: t}
}

// Client wraps base so that answers are observed by watched, limited in size and, if
// successful, of one of the media types. Redirects are refused. A nil base means
// NewClient(nil).
func Client(base *http.Client, mediaTypes ...string) *http.Client {
	if base == nil {
		base = NewClient(nil)
	}
	c := *base
	if c.Transport == nil {
		c.Transport = http.DefaultTransport
	}
	c.Transport = &transport{next: c.Transport, mediaTypes: mediaTypes}
	return &c
}

// transport checks and observes answers; see Client.
type transport struct {
	next       http.RoundTripper
	mediaTypes []string
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	w, _ := r.Context().Value(watchKey{}).(*watch)
	if w != nil {
		r = r.WithContext(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{
			WroteHeaders: func() { w.sent.Store(true) },
		}))
	}
	resp, err := t.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if w != nil {
		w.refused = resp.StatusCode >= 300
	}
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		resp.Body.Close()
		return nil, &Failure{Err: quoting(fmt.Sprintf("it names %q", clip(resp.Header.Get("Location"))), choir.ReasonModelRedirects)}
	}
	limit := int64(maxErrorBody)
	if resp.StatusCode < 300 {
		limit = maxBody
		media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
		if !slices.Contains(t.mediaTypes, media) {
			resp.Body.Close()
			if w != nil {
				w.refused = true
			}
			return nil, &Failure{Err: quoting(fmt.Sprintf("its content type is %q", clip(resp.Header.Get("Content-Type"))), choir.ReasonModelContentType, choir.TextOf("wanted", strings.Join(t.mediaTypes, ", ")))}
		}
	}
	resp.Body = &body{ReadCloser: resp.Body, watch: w, left: limit}
	return resp, nil
}

// CloseIdleConnections closes the idle connections of the next transport.
// http.Client.CloseIdleConnections calls it.
func (t *transport) CloseIdleConnections() {
	if c, ok := t.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// body is an answer's body that is observed and limited to left bytes.
type body struct {
	io.ReadCloser
	watch *watch
	left  int64
}

func (b *body) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("the provider's answer is longer than %d bytes", maxBody)
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	if n > 0 && b.watch != nil {
		b.watch.observe(p[:n])
	}
	return n, err
}
