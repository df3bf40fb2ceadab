package timeline

import (
	"bytes"
	"context"
	"crypto/sha256"
	"hash"
	"io"
	"strconv"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/journal"
)

// Taker receives the content of an archive. A blob's content is verified while it is
// read: if it differs from the manifest, it ends with an error instead of io.EOF.
type Taker interface {
	Segment(name string, content []byte) error
	Blob(ctx context.Context, d choir.Digest, size int64, content io.Reader) error
}

// maxSegment bounds a segment of the log in an archive, in bytes.
const maxSegment = 256 << 20

// ReadArchive reads the manifest of an archive from r, and nothing after it. It returns
// the manifest and its digest. A file that is no export is code invalid, a damaged one
// code corrupt.
func ReadArchive(r io.Reader) (Archive, choir.Digest, error) {
	return (&reading{r: r}).manifest()
}

// Unpack reads an archive to its end and passes its content to a taker. It calls accept
// with the manifest first, whose error ends it. Content that differs from the manifest is
// code corrupt, with the member and the position of the damage.
func Unpack(ctx context.Context, r io.Reader, accept func(Archive, choir.Digest) error, into Taker) error {
	in := &reading{r: r}
	a, digest, err := in.manifest()
	if err == nil {
		err = accept(a, digest)
	}
	if err != nil {
		return err
	}
	for _, m := range a.Members {
		if err := ctx.Err(); err != nil {
			return choir.Wrap("timeline.import", choir.CodeCancelled, err, "stopped")
		}
		if err := in.readMember(ctx, m, into); err != nil {
			return err
		}
	}
	return in.end()
}

// reading reads an export file sequentially and counts the bytes.
type reading struct {
	r  io.Reader
	at int64
}

// full reads n bytes, which belong to the named part of the file. If the file ends
// before, the error is code corrupt.
func (in *reading) full(n int64, of string) ([]byte, error) {
	// The buffer grows with what really comes.
	b, err := io.ReadAll(io.LimitReader(in.r, n))
	in.at += int64(len(b))
	if err == nil && int64(len(b)) < n {
		err = in.short(of)
	}
	return b, err
}

func (in *reading) short(of string) error {
	return choir.Refuse("timeline.import", choir.ReasonImportShort, choir.CountOf("at", in.at), choir.TextOf("part", of))
}

// manifest reads and verifies the first member and returns it with its digest.
func (in *reading) manifest() (Archive, choir.Digest, error) {
	var a Archive
	head, err := in.full(block, "its first member's header")
	if err != nil {
		if in.at < block {
			err = noExport()
		}
		return a, "", err
	}
	name, size, ok := firstMember(head)
	if !ok {
		return a, "", noExport()
	}
	if want, err := header(name, size); err != nil || !bytes.Equal(want, head) {
		return a, "", choir.Refuse("timeline.import", choir.ReasonImportFirstHead, choir.CountOf("to", in.at-1), choir.TextOf("name", name))
	}
	if size > maxManifest {
		return a, "", manifestTooLarge("timeline.import", choir.ReasonArchiveListLarge, size)
	}
	raw, err := in.full(size, "the manifest")
	if err == nil {
		err = in.zeros(padding(size), "the manifest")
	}
	if err != nil {
		return a, "", err
	}
	digest := choir.DigestOf(raw)
	want, err := header(manifestPath(digest), size)
	if err != nil || !bytes.Equal(want, head) {
		return a, "", choir.Refuse("timeline.import", choir.ReasonImportManifest, choir.CountOf("to", in.at-1), choir.TextOf("name", name))
	}
	if err := choir.DecodeStrict(raw, &a); err != nil {
		return a, "", choir.Wrap("timeline.import", choir.CodeInvalid, choir.Under("manifest", err), "this export file is not one that this choir can read")
	}
	return a, digest, choir.Under("manifest", a.check())
}

// manifestTooLarge returns code too_large, with a reason, for a manifest of size bytes.
func manifestTooLarge(op string, reason choir.Reason, size int64) *choir.Error {
	return choir.Refuse(op, reason, choir.CountOf("size", size>>20), choir.CountOf("most", maxManifest>>20))
}

func noExport() error {
	return choir.Refuse("timeline.import", choir.ReasonNotAnExport)
}

// firstMember returns the name and size of the manifest from its tar header; ok is false
// if the header is not that of a manifest.
func firstMember(head []byte) (name string, size int64, ok bool) {
	name, _, _ = strings.Cut(string(head[:100]), "\x00")
	text := strings.TrimRight(string(head[124:136]), "\x00 ")
	size, err := strconv.ParseInt(text, 8, 64)
	ok = err == nil && size > 0 && strings.HasPrefix(name, "manifest-") && string(head[257:262]) == "ustar"
	return name, size, ok
}

func (in *reading) zeros(n int64, behind string) error {
	b, err := in.full(n, "the zeros behind "+behind)
	if err == nil && len(bytes.Trim(b, "\x00")) > 0 {
		err = choir.Refuse("timeline.import", choir.ReasonImportNoZeros, choir.CountOf("from", in.at-n), choir.CountOf("to", in.at-1), choir.TextOf("part", behind))
	}
	return err
}

// readMember reads one member, verifies its header, and passes its content to the taker.
func (in *reading) readMember(ctx context.Context, m Member, into Taker) error {
	begin := in.at
	head, err := in.full(block, "the header of "+m.Path)
	if err != nil {
		return err
	}
	if want, err := header(m.Path, m.Size); err != nil || !bytes.Equal(want, head) {
		return choir.Refuse("timeline.import", choir.ReasonImportHead, choir.TextOf("part", m.Path), choir.CountOf("from", begin), choir.CountOf("to", in.at-1))
	}
	if isSegment(m.Path) {
		err = in.segment(m, into)
	} else {
		err = in.blob(ctx, m, into)
	}
	if err != nil {
		return err
	}
	return in.zeros(padding(m.Size), m.Path)
}

func (in *reading) segment(m Member, into Taker) error {
	if m.Size > maxSegment {
		return choir.Refuse("timeline.import", choir.ReasonArchiveMemberLarge, choir.TextOf("path", m.Path), choir.CountOf("size", m.Size), choir.CountOf("most", maxSegment))
	}
	begin := in.at
	content, err := in.full(m.Size, m.Path)
	if err != nil {
		return err
	}
	name := strings.TrimPrefix(m.Path, journalFolder)
	if choir.DigestOf(content) != m.SHA256 {
		e := choir.Refuse("timeline.import", choir.ReasonImportContent, choir.TextOf("part", m.Path), choir.CountOf("from", begin), choir.CountOf("to", in.at-1))
		if where := journal.Inspect(name, content); where != nil {
			e.Msg += ": " + where.String()
		}
		return e
	}
	return into.Segment(name, content)
}

func (in *reading) blob(ctx context.Context, m Member, into Taker) error {
	c := &content{in: in, member: m, begin: in.at, left: m.Size, hash: sha256.New()}
	if err := into.Blob(ctx, m.SHA256, m.Size, c); err != nil {
		return err
	}
	if c.left > 0 || !c.checked {
		// It was there already; its bytes are checked all the same.
		if _, err := io.Copy(io.Discard, c); err != nil {
			return err
		}
	}
	return nil
}

// content is the reader of one blob in the archive.
type content struct {
	in      *reading
	member  Member
	begin   int64
	left    int64
	hash    hash.Hash
	checked bool
}

func (c *content) Read(p []byte) (int, error) {
	if c.left == 0 {
		return 0, c.finish()
	}
	n, err := c.in.r.Read(p[:min(int64(len(p)), c.left)])
	c.hash.Write(p[:n])
	c.left -= int64(n)
	c.in.at += int64(n)
	switch {
	case err == io.EOF && c.left > 0:
		return n, c.in.short(c.member.Path)
	case err != nil && err != io.EOF:
		return n, err
	case c.left == 0:
		return n, c.finish()
	}
	return n, nil
}

// finish verifies the member's SHA-256 after its last byte. It returns io.EOF on a match
// and a corrupt error otherwise.
func (c *content) finish() error {
	c.checked = true
	if choir.DigestFrom([32]byte(c.hash.Sum(nil))) != c.member.SHA256 {
		return choir.Refuse("timeline.import", choir.ReasonImportContent, choir.TextOf("part", c.member.Path), choir.CountOf("from", c.begin), choir.CountOf("to", c.in.at-1))
	}
	return io.EOF
}

// end verifies the end of the archive: two blocks of zeros and nothing after them.
func (in *reading) end() error {
	if err := in.zeros(2*block, "the last member"); err != nil {
		return err
	}
	var one [1]byte
	if n, err := io.ReadFull(in.r, one[:]); n > 0 {
		return choir.Refuse("timeline.import", choir.ReasonImportMore, choir.CountOf("at", in.at))
	} else if err != io.EOF {
		return err
	}
	return nil
}
