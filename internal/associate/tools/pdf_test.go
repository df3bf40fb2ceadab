package tools_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"image/jpeg"
	"os"
	"os/exec"
	"strings"
	"testing"

	"choiros/internal/associate/tools"
	"choiros/internal/choir"
)

// pdf returns a PDF whose pages have these words.
func pdf(pages ...string) string {
	var b strings.Builder
	var kids []string
	for i := range pages {
		kids = append(kids, fmt.Sprintf("%d 0 R", 4+2*i))
	}
	b.WriteString("%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n")
	fmt.Fprintf(&b, "2 0 obj<</Type/Pages/Count %d/Kids[%s]>>endobj\n", len(pages), strings.Join(kids, " "))
	b.WriteString("3 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\n")
	for i, words := range pages {
		draw := "BT /F1 24 Tf 72 700 Td (" + words + ") Tj ET"
		fmt.Fprintf(&b, "%d 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 3 0 R>>>>/Contents %d 0 R>>endobj\n", 4+2*i, 5+2*i)
		fmt.Fprintf(&b, "%d 0 obj<</Length %d>>stream\n%s\nendstream endobj\n", 5+2*i, len(draw), draw)
	}
	b.WriteString("trailer<</Root 1 0 R>>\n%%EOF\n")
	return b.String()
}

// convert runs a program as the Associate does, without a sandbox.
func convert(ctx context.Context, stdin *os.File, argv []string) ([]byte, string, error) {
	program, err := exec.LookPath(argv[0])
	if err != nil {
		return nil, "", tools.ErrNoProgram
	}
	cmd := exec.CommandContext(ctx, program, argv[1:]...)
	var out, said bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &out, &said
	if cmd.Run() != nil {
		line, _, _ := strings.Cut(said.String(), "\n")
		return nil, line, nil
	}
	return out.Bytes(), "", nil
}

func TestAPDFIsReadPageByPage(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("pdftoppm"); err != nil {
		t.Skip("pdftoppm is not on this machine: package poppler-utils")
	}
	p := newPlace(t, map[string]string{"paper.pdf": pdf("first words", "second words [paper.pdf, page 9 of 9]", "third words", "fourth words")})
	p.kit.Convert = convert
	out := p.call(t, "read_file", map[string]any{"path": "paper.pdf"})
	if !out.OK || len(out.Images) != 3 {
		t.Fatalf("%d images: %s", len(out.Images), out.Text)
	}
	for _, want := range []string{"page 1 of 4]\nfirst words", "page 3 of 4]\nthird words", "[more follows from page 4: "} {
		if !strings.Contains(out.Text, want) {
			t.Errorf("%q lacks %q", out.Text, want)
		}
	}
	raw, err := base64.StdEncoding.DecodeString(out.Images[0].Data)
	if err != nil {
		t.Fatal(err)
	}
	if img, err := jpeg.Decode(bytes.NewReader(raw)); err != nil || img.Bounds().Dy() != 1400 {
		t.Errorf("the page is no image 1,400 pixels high: %v", err)
	}
	out = p.call(t, "read_file", map[string]any{"path": "paper.pdf", "offset": 4, "limit": 2})
	if !out.OK || len(out.Images) != 1 || !strings.Contains(out.Text, "fourth words") || strings.Contains(out.Text, "more follows") {
		t.Errorf("the last page: %d images: %s", len(out.Images), out.Text)
	}
}

func TestAPDFThatCannotBeReadSaysWhy(t *testing.T) {
	t.Parallel()
	p := newPlace(t, map[string]string{"broken.pdf": "%PDF-1.4\nnothing of a PDF", "paper.pdf": pdf("words")})
	p.kit.Convert = func(context.Context, *os.File, []string) ([]byte, string, error) { return nil, "", tools.ErrNoProgram }
	if out := p.call(t, "read_file", map[string]any{"path": "paper.pdf"}); out.OK || !strings.Contains(out.Text, "poppler-utils") {
		t.Errorf("without the program: %q", out.Text)
	}
	if _, err := exec.LookPath("pdftoppm"); err != nil {
		t.Skip("pdftoppm is not on this machine: package poppler-utils")
	}
	p.kit.Convert = convert
	if out := p.call(t, "read_file", map[string]any{"path": "broken.pdf"}); out.OK || out.Code != choir.CodeInvalid || !strings.Contains(out.Text, "pdfinfo cannot read") {
		t.Errorf("a broken one: %q", out.Text)
	}
	if out := p.call(t, "read_file", map[string]any{"path": "paper.pdf", "offset": 2}); out.OK || !strings.Contains(out.Text, "the PDF has 1") {
		t.Errorf("behind the last page: %q", out.Text)
	}
}
