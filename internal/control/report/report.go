// Package report packs what a maintainer needs into one file that may leave the
// machine. What goes in is numbers, ids, codes and words of choir's own; a second look
// takes out of it every secret that is known on this machine, should one be there.
package report

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"choiros/internal/choir"
)

// contentsName is the file of the report that lists the others.
const contentsName = "CONTENTS.txt"

// folder is what the report unpacks into.
const folder = "choir-report/"

// Report is one report while it is put together, by one goroutine.
type Report struct {
	scrub *scrubber
	made  time.Time
	parts []part
	left  []left
}

// part is one file of a report.
type part struct {
	name, what string
	content    []byte
}

// left is what a report does not have, and why.
type left struct{ what, why string }

// New makes an empty report of a moment. No secret is in any part of it; words are those
// that may be, also where a secret is one of them.
func New(made time.Time, secrets, words []string) *Report {
	return &Report{scrub: newScrubber(secrets, words), made: made}
}

// AddText adds a file; what says in a few words what it holds.
func (r *Report) AddText(name, what string, content []byte) {
	r.parts = append(r.parts, part{name, r.scrub.text(what), r.scrub.bytes(content)})
}

// AddJSON adds a file with a value as JSON.
func (r *Report) AddJSON(name, what string, v any) error {
	raw, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return choir.Wrap("report.add", choir.CodeInternal, err, "encode %s", name)
	}
	r.AddText(name, what, append(raw, '\n'))
	return nil
}

// Leave notes what the report does not have.
func (r *Report) Leave(what, why string) {
	r.left = append(r.left, left{r.scrub.text(what), r.scrub.text(why)})
}

// LeaveFailed notes that a part could not be made. Of the error it tells the code
// alone: its words may be those of a person.
func (r *Report) LeaveFailed(what string, err error) {
	r.Leave(what, "could not be read: "+Reason(err))
}

// Reason is what may be told of an error: its code.
func Reason(err error) string { return string(choir.CodeOf(err)) }

// Contents lists what is in the report, and what is left out.
func (r *Report) Contents() string {
	var b strings.Builder
	b.WriteString("In the report:\n")
	for _, p := range r.parts {
		fmt.Fprintf(&b, "  %-20s %6d KiB  %s\n", p.name, (len(p.content)+1023)/1024, p.what)
	}
	b.WriteString("\nLeft out:\n")
	for _, l := range r.left {
		fmt.Fprintf(&b, "  %s: %s\n", l.what, l.why)
	}
	return b.String()
}

// Write writes the report as a gzipped tar.
func (r *Report) Write(to io.Writer) error {
	zip := gzip.NewWriter(to)
	archive := tar.NewWriter(zip)
	contents := part{name: contentsName, content: []byte(r.Contents())}
	for _, p := range append([]part{contents}, r.parts...) {
		head := &tar.Header{Typeflag: tar.TypeReg, Name: folder + p.name, Mode: 0o600, Size: int64(len(p.content)), ModTime: r.made}
		if err := archive.WriteHeader(head); err != nil {
			return err
		}
		if _, err := io.Copy(archive, bytes.NewReader(p.content)); err != nil {
			return err
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	return zip.Close()
}
