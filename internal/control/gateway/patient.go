package gateway

import (
	"io"
	"net/http"
	"time"
)

// bodyPatience is how long a sender may let one read of a body wait.
const bodyPatience = 30 * time.Second

// patient bounds the wait for each piece of a body. A deadline for the whole
// would end long uploads, and one that outlives the body the request itself.
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

func (b *patientBody) Read(p []byte) (int, error) {
	// A connection without deadlines waits as long as it likes.
	_ = b.conn.SetReadDeadline(time.Now().Add(bodyPatience))
	n, err := b.ReadCloser.Read(p)
	_ = b.conn.SetReadDeadline(time.Time{})
	return n, err
}
