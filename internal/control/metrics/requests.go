package metrics

import (
	"io"
	"net/http"
	"strconv"
	"time"
)

// Requests wraps a handler so that its requests are counted and measured. door names the
// listener; route returns a request's route out of a closed list.
func (m *Metrics) Requests(door string, route func(*http.Request) string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began, to := time.Now(), route(r)
		rec := &recorder{ResponseWriter: w}
		defer func() { // handlers end by panicking, too, to cut an answer
			m.requests.WithLabelValues(door, to, rec.class()).Inc()
			if rec.status != http.StatusSwitchingProtocols {
				m.requestSeconds.WithLabelValues(door, to).Observe(time.Since(began).Seconds())
			}
		}()
		next.ServeHTTP(rec, r)
	})
}

// recorder is an http.ResponseWriter that records the status of the answer.
type recorder struct {
	http.ResponseWriter
	status int
}

// class returns the class of the status, such as 2xx; 0xx if there was no answer.
func (r *recorder) class() string { return strconv.Itoa(min(r.status/100, 9)) + "xx" }

// note records the first status that is not informational.
func (r *recorder) note(status int) {
	informs := status < http.StatusOK && status != http.StatusSwitchingProtocols
	if r.status == 0 && !informs {
		r.status = status
	}
}

// WriteHeader implements http.ResponseWriter.
func (r *recorder) WriteHeader(status int) {
	r.note(status)
	r.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (r *recorder) Write(b []byte) (int, error) {
	r.note(http.StatusOK)
	return r.ResponseWriter.Write(b)
}

// ReadFrom copies a body with the underlying writer's ReadFrom, so that files are copied
// within the kernel.
func (r *recorder) ReadFrom(from io.Reader) (int64, error) {
	r.note(http.StatusOK)
	return io.Copy(r.ResponseWriter, from)
}

// Unwrap returns the underlying writer, for http.ResponseController and for hijacking
// the connection.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }
