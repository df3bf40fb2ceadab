package api

import (
	"bufio"
	"bytes"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"choiros/internal/choir"
	"choiros/internal/control/auth"
)

// readFile streams a file of the workspace, with a type detected from its content. Only
// the desktop may display it, and only types that run no code: under the shell's origin
// nothing that agents wrote is rendered. With as_of in the query it streams the file of
// then.
func (a *API) readFile(w http.ResponseWriter, r *http.Request) {
	c, p, err := a.findComputer(r.Context(), choir.ID(r.PathValue("computer")))
	if err != nil {
		WriteProblem(w, err)
		return
	}
	if r.URL.Query().Has("as_of") {
		a.readFileThen(w, r, c, p)
		return
	}
	state, content, err := c.Workspace.OpenFile(r.Context(), r.PathValue("path"))
	if err != nil {
		WriteProblem(w, err)
		return
	}
	defer content.Close()
	kind, err := sniff(content)
	if err != nil {
		WriteProblem(w, err)
		return
	}
	describeContent(w.Header(), r, p, state, kind)
	w.Header().Set("Cache-Control", "no-cache")
	http.ServeContent(w, r, "", time.Time{}, content)
}

// readFileThen streams a whole file as it was after the event as_of.
func (a *API) readFileThen(w http.ResponseWriter, r *http.Request, c Computer, p auth.Principal) {
	seq, err := strconv.ParseUint(r.URL.Query().Get("as_of"), 10, 64)
	if err != nil {
		WriteProblem(w, choir.RefuseField("as_of", choir.ReasonFieldNoEvent, choir.TextOf("given", r.URL.Query().Get("as_of"))))
		return
	}
	state, stored, err := c.Workspace.ReadFileAt(r.Context(), seq, r.PathValue("path"))
	if err != nil {
		WriteProblem(w, err)
		return
	}
	defer stored.Close()
	content := bufio.NewReaderSize(stored, sniffed)
	head, err := content.Peek(sniffed)
	if err != nil && err != io.EOF {
		WriteProblem(w, err)
		return
	}
	describeContent(w.Header(), r, p, state, kindOf(head, len(head) < sniffed))
	w.Header().Set("Content-Length", strconv.FormatInt(state.Size, 10))
	// A failed copy cuts the response, which the client sees.
	_, _ = io.Copy(w, content)
}

// describeContent sets the headers for a file's type, its display and its digest. An
// empty kind, and a caller other than a desktop, make it a download.
func describeContent(h http.Header, r *http.Request, p auth.Principal, state choir.FileState, kind string) {
	shown := kind != "" && p.Role == choir.RoleDesktop && r.URL.Query().Get("download") != "true"
	how := "attachment"
	if shown {
		how = "inline"
	} else {
		kind = "application/octet-stream"
	}
	if kind != "application/pdf" {
		// A browser's own viewer of PDF does not start in a sandbox.
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox")
	}
	h.Set("Content-Type", kind)
	h.Set("Content-Disposition", how+"; filename*=UTF-8''"+url.PathEscape(path.Base(state.Path)))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("ETag", `"`+string(state.Digest)+`"`)
}

// sniffed is the number of leading bytes from which the type is detected.
const sniffed = 512

// sniff returns the media type of content that a browser can display without running
// code in it; "" for any other. Markup is plain text. It leaves content at its start.
func sniff(content io.ReadSeeker) (string, error) {
	head := make([]byte, sniffed)
	n, err := io.ReadFull(content, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return "", err
	}
	if _, err := content.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	return kindOf(head[:n], n < sniffed), nil
}

// magics are file signatures that http.DetectContentType does not detect.
var magics = []struct {
	offset int
	magic  string
	kind   string
}{
	{4, "ftypavif", "image/avif"},
	{4, "ftypM4A", "audio/mp4"},
	{4, "ftypqt", "video/quicktime"},
	{4, "ftypiso", "video/mp4"},
	{0, "fLaC", "audio/flac"},
	{0, "\xff\xfb", "audio/mpeg"},
	{0, "\xff\xf3", "audio/mpeg"},
	{0, "\xff\xf1", "audio/aac"},
}

// kindOf returns the media type of content that a browser can display without running
// code in it; "" for any other. whole means that head is all of it.
func kindOf(head []byte, whole bool) string {
	for _, m := range magics {
		if len(head) > m.offset && bytes.HasPrefix(head[m.offset:], []byte(m.magic)) {
			return m.kind
		}
	}
	kind, _, err := mime.ParseMediaType(http.DetectContentType(head))
	if err != nil {
		return ""
	}
	switch major, _, _ := strings.Cut(kind, "/"); {
	case isText(head, whole):
		if isSVG(head) {
			return "image/svg+xml" // its scripts do not run: the policy is a sandbox
		}
		return "text/plain; charset=utf-8"
	case major == "image" || major == "audio" || major == "video", kind == "application/pdf":
		return kind
	case kind == "application/ogg":
		return "audio/ogg"
	}
	return ""
}

// isText reports whether head is UTF-8 text without NUL and no PDF. whole means that
// head is the complete file; otherwise its last character may be incomplete.
func isText(head []byte, whole bool) bool {
	if bytes.IndexByte(head, 0) >= 0 || bytes.HasPrefix(head, []byte("%PDF-")) {
		return false
	}
	if !whole {
		for cut := 0; cut < utf8.UTFMax && len(head) > 0 && !utf8.Valid(head); cut++ {
			head = head[:len(head)-1] // a character may have been cut
		}
	}
	return utf8.Valid(head)
}

// isSVG reports whether the first element of a document is <svg>.
func isSVG(head []byte) bool {
	at := bytes.Index(head, []byte("<svg"))
	if at < 0 {
		return false
	}
	before := strings.TrimSpace(string(head[:at]))
	return before == "" || strings.HasPrefix(before, "<?xml") || strings.HasPrefix(before, "<!--") || strings.HasPrefix(before, "<!DOCTYPE svg")
}
