// Package report packs a diagnosis for a maintainer into one file that may leave the
// machine. It contains numbers, ids, codes and choir's own messages. As a second
// safeguard every known secret of this machine is removed from it.
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

// contentsName is the name of the report's table of contents.
const contentsName = "CONTENTS.txt"

// folder is the folder in the archive that contains the report's files.
const folder = "choir-report/"

// Report is a report under construction. It is used by one goroutine.
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

// left is a part that is missing from a report, with the reason.
type left struct{ what, why string }

// New returns an empty report. secrets are removed from all its parts, except secrets
// that equal an element of words. made is the modification time of its files.
func New(made time.Time, secrets, words []string) *Report {
	return &Report{scrub: newScrubber(secrets, words), made: made}
}

// AddText adds a file to the report. what describes its content in a few words.
func (r *Report) AddText(name, what string, content []byte) {
	r.parts = append(r.parts, part{name, r.scrub.text(what), r.scrub.bytes(content)})
}

// AddJSON adds a file to the report that contains v as JSON.
func (r *Report) AddJSON(name, what string, v any) error {
	raw, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return choir.Wrap("report.add", choir.CodeInternal, err, "encode %s", name)
	}
	r.AddText(name, what, append(raw, '\n'))
	return nil
}

// Leave records that a part is missing from the report, with the reason.
func (r *Report) Leave(what, why string) {
	r.left = append(r.left, left{r.scrub.text(what), r.scrub.text(why)})
}

// LeaveFailed records that a part could not be made. It reports only the error's code,
// because its message may contain text of a person.
func (r *Report) LeaveFailed(what string, err error) {
	r.Leave(what, "could not be read: "+Reason(err))
}

// Reason returns an error's code, the only part of an error that may be reported.
func Reason(err error) string { return string(choir.CodeOf(err)) }

// Contents returns the table of contents: the files of the report and the missing parts.
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

// Write writes the report as a gzipped tar archive.
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
