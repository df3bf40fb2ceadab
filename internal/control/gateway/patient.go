package gateway

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"
)

// bodyPatience is the maximum time for the whole body of a request without a session, and
// for one read of the body of a request with one.
const bodyPatience = 30 * time.Second

// patientBody is the body of a request with a deadline for its connection. net/http
// removes the deadline at the body's end, where it begins to watch the connection for its
// end; a deadline that outlives the body would abort the request. The deadline holds for
// the reads of net/http too, which discards the rest of a body before it sends an answer.
type patientBody struct {
	io.ReadCloser
	conn   *http.ResponseController
	renews bool // whether each read has a deadline of its own
}

// newPatientBody returns the body of a request, which must not have been read yet, and
// sets its first deadline.
func newPatientBody(w http.ResponseWriter, body io.ReadCloser) *patientBody {
	b := &patientBody{ReadCloser: body, conn: http.NewResponseController(w)}
	b.setDeadline(time.Now().Add(bodyPatience))
	return b
}

// setDeadline sets the time at which reads of the body fail; the zero time is never.
func (b *patientBody) setDeadline(at time.Time) {
	// A connection without deadlines waits as long as it likes.
	_ = b.conn.SetReadDeadline(at)
}

// Read implements io.Reader.
func (b *patientBody) Read(p []byte) (int, error) {
	if !b.renews {
		return b.ReadCloser.Read(p)
	}
	b.setDeadline(time.Now().Add(bodyPatience))
	n, err := b.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		// The body had ended before.
		b.setDeadline(time.Time{})
	}
	return n, err
}
