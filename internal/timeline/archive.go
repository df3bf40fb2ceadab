package timeline

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"io"
	"path"
	"strings"

	"choiros/internal/blob"
	"choiros/internal/choir"
	"choiros/internal/journal"
)

// ArchiveFormat is the version of the export file.
const ArchiveFormat = 1

// Archive is the manifest of an export file, its first member: it describes the computer
// and lists every other member, in the order of the file. docs/FORMAT.md has the rules.
type Archive struct {
	Format    int            `json:"format" choir:"range=1..1" doc:"Version of the file's format."`
	Computer  choir.ID       `json:"computer" choir:"id" doc:"The computer that was exported."`
	Name      string         `json:"name" choir:"len=1..100" doc:"What its owner called it."`
	Seq       uint64         `json:"seq" choir:"range=1..9007199254740991" doc:"Last event."`
	Hash      choir.Digest   `json:"hash" choir:"digest" doc:"Its hash."`
	Workspace choir.Digest   `json:"workspace,omitempty" choir:"digest" doc:"Snapshot of the workspace after it, without what is withheld."`
	Members   []Member       `json:"members" choir:"len=1..16777216" doc:"All that follows, in order."`
	Withheld  []Withheld     `json:"withheld" choir:"len=0..16777216" doc:"Files that look like keys; their content is not in the file."`
	Absent    []choir.Digest `json:"absent" choir:"len=0..16777216" doc:"Content that the log names and that had been collected."`
}

// Member is one file in the archive.
type Member struct {
	Path   string       `json:"path" choir:"len=1..100" doc:"journal/<first event>.seg, or blobs/<first two digits>/<sha256>."`
	Size   int64        `json:"size" choir:"range=0..17592186044416" doc:"Bytes."`
	SHA256 choir.Digest `json:"sha256" choir:"digest" doc:"Of the content."`
}

const (
	journalFolder = "journal/"
	blobFolder    = "blobs/"
	block         = 512
	// maxManifest bounds the manifest of an archive, in bytes. An import holds it in
	// memory; it has room for a million members.
	maxManifest = 192 << 20
)

// header returns the tar header of a member, the only header that an export may have for
// this name and size. A name that is too long is code invalid.
func header(name string, size int64) ([]byte, error) {
	var b bytes.Buffer
	err := tar.NewWriter(&b).WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o600, Format: tar.FormatGNU})
	if err == nil && b.Len() != block {
		err = choir.RefuseField("path", choir.ReasonArchivePathLong, choir.TextOf("path", name))
	}
	return b.Bytes(), err
}

// padding returns the number of zero bytes that follow a member of size bytes in a tar
// file.
func padding(size int64) int64 { return -size & (block - 1) }

func blobPath(d choir.Digest) string { return blobFolder + string(d[:2]) + "/" + string(d) }

// manifestPath returns the name of the first member, which contains the digest of the
// manifest.
func manifestPath(d choir.Digest) string { return "manifest-" + string(d) + ".json" }

// Head identifies the computer and the last event of an export.
type Head struct {
	Computer  choir.ID
	Name      string
	Seq       uint64
	Hash      choir.Digest
	Workspace choir.Digest
}

// Source is the log that an export is made from. eventstore.Store implements it.
type Source interface {
	Log
	Parts(ctx context.Context, seq uint64) ([]journal.Part, error)
}

// Export is an archive that is ready to be written. The same log up to the same event
// gives the same bytes.
type Export struct {
	Archive Archive
	Digest  choir.Digest // of the manifest
	raw     []byte
	parts   map[string]journal.Part
	blobs   blob.Store
}

// NewExport returns the export of a log up to head with the blobs in reached. It reads
// the log's segments for their checksums and looks up the blobs' sizes. A manifest too
// large to be imported is code too_large.
func NewExport(ctx context.Context, log Source, blobs blob.Store, head Head, reached Reached) (*Export, error) {
	e := &Export{
		Archive: Archive{
			Format: ArchiveFormat, Computer: head.Computer, Name: head.Name, Seq: head.Seq, Hash: head.Hash, Workspace: head.Workspace,
			Members: []Member{}, Withheld: append([]Withheld{}, reached.Withheld...), Absent: append([]choir.Digest{}, reached.Absent...),
		},
		parts: map[string]journal.Part{}, blobs: blobs,
	}
	parts, err := log.Parts(ctx, head.Seq)
	if err != nil {
		return nil, err
	}
	for _, p := range parts {
		if err := e.addPart(p); err != nil {
			return nil, err
		}
	}
	for _, d := range reached.Digests {
		size, err := blobs.Size(ctx, d)
		if err != nil {
			return nil, err
		}
		e.Archive.Members = append(e.Archive.Members, Member{blobPath(d), size, d})
	}
	if e.raw, err = choir.Canonical(e.Archive); err != nil {
		return nil, err
	}
	if len(e.raw) > maxManifest {
		return nil, manifestTooLarge("timeline.export", choir.ReasonExportListLarge, int64(len(e.raw)))
	}
	e.Digest = choir.DigestOf(e.raw)
	return e, nil
}

func (e *Export) addPart(p journal.Part) error {
	r, err := p.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	h := sha256.New()
	if _, err := io.Copy(h, r); err != nil {
		return choir.Wrap("timeline.export", choir.CodeUnavailable, err, "read %s", p.Name)
	}
	m := Member{journalFolder + p.Name, p.Size, choir.DigestFrom([32]byte(h.Sum(nil)))}
	e.parts[m.Path] = p
	e.Archive.Members = append(e.Archive.Members, m)
	return nil
}

// Size returns the number of bytes that Write writes.
func (e *Export) Size() int64 {
	raw := int64(len(e.raw))
	total := block + raw + padding(raw) + 2*block
	for _, m := range e.Archive.Members {
		total += block + m.Size + padding(m.Size)
	}
	return total
}

// Write writes the archive to w. Content that has changed since NewExport is code
// corrupt.
func (e *Export) Write(ctx context.Context, w io.Writer) error {
	out := writing{w: w}
	out.member(manifestPath(e.Digest), int64(len(e.raw)), bytes.NewReader(e.raw), "")
	for _, m := range e.Archive.Members {
		if err := ctx.Err(); err != nil {
			return choir.Wrap("timeline.export", choir.CodeCancelled, err, "stopped")
		}
		if err := e.write(ctx, &out, m); err != nil {
			return err
		}
	}
	out.zeros(2 * block)
	return out.err
}

func (e *Export) write(ctx context.Context, out *writing, m Member) error {
	var r io.ReadCloser
	var err error
	if p, ok := e.parts[m.Path]; ok {
		r, err = p.Open()
	} else {
		r, err = e.blobs.Open(ctx, m.SHA256)
	}
	if err != nil {
		return err
	}
	defer r.Close()
	out.member(m.Path, m.Size, r, m.SHA256)
	return out.err
}

// writing writes the members of an archive. After the first error it writes nothing more.
type writing struct {
	w   io.Writer
	err error
}

// member writes one member with its header and padding. If want is not empty, content
// with another digest is code corrupt, as is content of another size.
func (o *writing) member(name string, size int64, content io.Reader, want choir.Digest) {
	head, err := header(name, size)
	if o.err != nil || err != nil {
		o.fail(err)
		return
	}
	o.write(head)
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(sink{o}, h), content)
	if err == nil && (n != size || want != "" && choir.DigestFrom([32]byte(h.Sum(nil))) != want) {
		err = choir.Refuse("timeline.export", choir.ReasonExportChanged, choir.TextOf("name", name))
	}
	o.fail(err)
	o.zeros(padding(size))
}

func (o *writing) fail(err error) {
	if o.err == nil {
		o.err = err
	}
}

func (o *writing) write(b []byte) {
	if o.err == nil {
		_, o.err = o.w.Write(b)
	}
}

func (o *writing) zeros(n int64) { o.write(make([]byte, n)) }

// sink makes a writing an io.Writer.
type sink struct{ o *writing }

func (s sink) Write(b []byte) (int, error) {
	s.o.write(b)
	return len(b), s.o.err
}

// check returns code invalid for a manifest whose members are not the segments of a log
// followed by blobs, each group sorted by path.
func (a *Archive) check() error {
	segments := true
	before := ""
	for i, m := range a.Members {
		if isSegment(m.Path) {
			if !segments {
				return choir.RefuseField("members", choir.ReasonArchiveOrderBlob, choir.TextOf("path", m.Path))
			}
		} else if m.Path != blobPath(m.SHA256) {
			return choir.RefuseField("members", choir.ReasonArchiveNoMember, choir.TextOf("path", m.Path))
		} else if segments {
			segments, before = false, ""
		}
		if m.Path <= before {
			return choir.RefuseField("members", choir.ReasonArchiveOrder, choir.TextOf("path", m.Path), choir.TextOf("before", before))
		}
		if before = m.Path; i == 0 && !segments {
			return choir.RefuseField("members", choir.ReasonArchiveNoLog)
		}
	}
	return nil
}

// isSegment reports whether a member's path is that of a segment of the log.
func isSegment(p string) bool {
	name, ok := strings.CutPrefix(p, journalFolder)
	digits, seg := strings.CutSuffix(name, ".seg")
	return ok && seg && path.Base(name) == name && len(digits) == 20 && strings.Trim(digits, "0123456789") == ""
}

// IsSegment reports whether the member is a segment of the log; the others are blobs.
func (m Member) IsSegment() bool { return isSegment(m.Path) }
