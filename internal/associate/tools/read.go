package tools

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// Limits of the tool read_file.
const (
	defaultLines = 2000
	maxReadBytes = 60_000 // largest text of one answer, in bytes
	sniffBytes   = 8000   // a zero byte in these first bytes makes a file binary, as for git
)

type readFile struct {
	Path   string `json:"path" choir:"len=1..4096"`
	Offset int    `json:"offset,omitempty" choir:"range=1..1000000000"`
	Limit  int    `json:"limit,omitempty" choir:"range=1..1000000000"`
}

func (in *readFile) record() choir.ToolInput {
	return choir.ToolInput{Path: in.Path, Offset: in.Offset, Limit: in.Limit}
}

func (in *readFile) run(ctx context.Context, k *Kit) (Output, error) {
	f, info, err := k.Files.open(in.Path)
	if err != nil {
		return Output{}, err
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 64<<10)
	head, _ := r.Peek(sniffBytes)
	if media := imageType(head); media != "" {
		return readImage(in.Path, media, r, info.Size())
	}
	if bytes.HasPrefix(head, []byte(pdfMagic)) && k.Convert != nil {
		return in.readPages(ctx, k, f)
	}
	if bytes.IndexByte(head, 0) >= 0 {
		return Output{}, choir.Invalid("path", "%q is a binary file of %d bytes", in.Path, info.Size())
	}
	text, err := in.window(r)
	return Output{Text: text, OK: err == nil}, err
}

// maxImageBytes limits an image that is read: a few of them fit into one call of the model.
const maxImageBytes = 1_500_000

// imageType returns the media type of an image that models see, by its first bytes; "" for
// anything else.
func imageType(head []byte) string {
	switch media := http.DetectContentType(head); media {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return media
	}
	return ""
}

// readImage returns an image as the model sees it.
func readImage(p, media string, r io.Reader, size int64) (Output, error) {
	if size > maxImageBytes {
		return Output{}, &choir.Error{Code: choir.CodeTooLarge, Path: "path", Msg: fmt.Sprintf("%q is an image of %d bytes, and at most %d are shown; make a smaller one with bash", p, size, maxImageBytes)}
	}
	content, err := io.ReadAll(io.LimitReader(r, maxImageBytes))
	if err != nil {
		return Output{}, fault(p, err)
	}
	return Output{Text: fmt.Sprintf("[%s, %s, %d bytes]", p, media, len(content)), OK: true,
		Images: []model.Image{{MediaType: media, Data: base64.StdEncoding.EncodeToString(content)}}}, nil
}

// window returns the requested lines of r, each after its number and a tab, followed by a
// note if it left out text.
func (in *readFile) window(r *bufio.Reader) (string, error) {
	first, limit := max(in.Offset, 1), in.Limit
	if limit == 0 {
		limit = defaultLines
	}
	var b strings.Builder
	line := 0
	for {
		text, whole, err := nextLine(r, maxReadBytes)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", fault(in.Path, err)
		}
		line++
		if line < first {
			continue
		}
		if line >= first+limit || b.Len() > 0 && b.Len()+len(text) > maxReadBytes {
			fmt.Fprintf(&b, "[lines %d to %d; more follows from line %d]\n", first, line-1, line)
			return b.String(), nil
		}
		fmt.Fprintf(&b, "%5d\t%s", line, strings.ToValidUTF8(text, "\uFFFD"))
		if !whole {
			fmt.Fprintf(&b, "\n[line %d is cut after %d bytes]\n", line, maxReadBytes)
		}
	}
	if line < first && first > 1 {
		return "", choir.Invalid("offset", "%d is behind the last line: the file has %d", first, line)
	}
	if line == 0 {
		return "[the file is empty]\n", nil
	}
	return b.String(), nil
}

// nextLine returns the next line with its line end, of a longer line the first max bytes;
// whole reports whether it was not cut. The error is io.EOF after the last line.
func nextLine(r *bufio.Reader, max int) (text string, whole bool, err error) {
	var b strings.Builder
	whole = true
	for {
		part, err := r.ReadSlice('\n')
		if room := max - b.Len(); len(part) > room {
			part, whole = part[:room], false
		}
		b.Write(part)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && b.Len() > 0:
			return b.String(), whole, nil
		}
		return b.String(), whole, err
	}
}
