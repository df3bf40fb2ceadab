package gateway

import (
	"io"
	"net/http"
	"time"
)

// bodyPatience is the maximum time for one read of a request's body.
const bodyPatience = 30 * time.Second

// patient limits the time for each read of a request's body. A deadline for the whole
// body would abort long uploads, and a deadline that outlives the body would abort the
// request.
func patient(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body != nil && r.Body != http.NoBody {
			// A copy, because the server looks at its own body to know whether the
			// connection can be used again.
			r = r.WithContext(r.Context())
			r.Body = &patientBody{ReadCloser: r.Body, conn: http.NewResponseController(w)}
		}
		next.ServeHTTP(w, r)
	})
}

type patientBody struct {
	io.ReadCloser
	conn *http.ResponseController
}

// Read reads from the body with a deadline of bodyPatience.
func (b *patientBody) Read(p []byte) (int, error) {
	// A connection without deadlines waits as long as it likes.
	_ = b.conn.SetReadDeadline(time.Now().Add(bodyPatience))
	n, err := b.ReadCloser.Read(p)
	_ = b.conn.SetReadDeadline(time.Time{})
	return n, err
}
