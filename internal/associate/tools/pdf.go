package tools

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// Limits of reading a PDF.
const (
	defaultPages  = 3
	maxPages      = 10
	pagePixels    = 1400      // of a page's longer side
	maxPagesBytes = 4_000_000 // of all images of one answer
)

// pdfMagic begins every PDF.
const pdfMagic = "%PDF-"

// ErrNoProgram is the error of Kit.Convert for a program that is not installed.
var ErrNoProgram = errors.New("the program is not installed")

var pageCount = regexp.MustCompile(`(?m)^Pages:\s+(\d+)$`)

// readPages returns pages of a PDF, each as its text and as an image. Offset is the number
// of the first page, Limit the number of pages. The programs of poppler read the PDF, in
// the sandbox.
func (in *readFile) readPages(ctx context.Context, k *Kit, f *os.File) (Output, error) {
	info, err := in.convert(ctx, k, f, "pdfinfo", "-")
	if err != nil {
		return Output{}, err
	}
	found := pageCount.FindSubmatch(info)
	if found == nil {
		return Output{}, choir.Invalid("path", "%q is a PDF without pages", in.Path)
	}
	total, _ := strconv.Atoi(string(found[1])) // the expression permits digits alone
	first, limit := max(in.Offset, 1), min(in.Limit, maxPages)
	if limit == 0 {
		limit = defaultPages
	}
	if first > total {
		return Output{}, choir.Invalid("offset", "%d is behind the last page: the PDF has %d", first, total)
	}
	out := Output{OK: true}
	var text strings.Builder
	size, page := 0, first
	for ; page < first+limit && page <= total; page++ {
		number := strconv.Itoa(page)
		words, err := in.convert(ctx, k, f, "pdftotext", "-layout", "-f", number, "-l", number, "-", "-")
		if err != nil {
			return Output{}, err
		}
		image, err := in.convert(ctx, k, f, "pdftoppm", "-jpeg", "-scale-to", strconv.Itoa(pagePixels), "-f", number, "-l", number, "-")
		if err != nil {
			return Output{}, err
		}
		if page > first && (size+len(image) > maxPagesBytes || text.Len()+len(words) > maxReadBytes) {
			break
		}
		size += len(image)
		shown := Cut(strings.TrimSpace(strings.ReplaceAll(string(words), "\f", "")), maxReadBytes)
		fmt.Fprintf(&text, "[%s, page %d of %d]\n%s\n", in.Path, page, total, shown)
		if len(image) > maxImageBytes {
			fmt.Fprintf(&text, "[page %d is not shown as an image: %d bytes]\n", page, len(image))
			continue
		}
		out.Images = append(out.Images, model.Image{MediaType: "image/jpeg", Data: base64.StdEncoding.EncodeToString(image)})
	}
	if page <= total {
		fmt.Fprintf(&text, "[more follows from page %d: offset is the first page, limit the number of pages, at most %d]\n", page, maxPages)
	}
	out.Text = text.String()
	return out, nil
}

// convert returns the output of a program that reads the PDF from its standard input. An
// error that the model can react to says why there is none.
func (in *readFile) convert(ctx context.Context, k *Kit, f *os.File, argv ...string) ([]byte, error) {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, fault(in.Path, err)
	}
	out, said, err := k.Convert(ctx, f, argv)
	switch {
	case errors.Is(err, ErrNoProgram):
		return nil, choir.Invalid("path", "%q is a PDF, and %s, which reads it, is not installed here (package poppler-utils)", in.Path, argv[0])
	case err != nil:
		return nil, err
	case said != "":
		return nil, choir.Invalid("path", "%s cannot read %q: %s", argv[0], in.Path, said)
	}
	return out, nil
}
