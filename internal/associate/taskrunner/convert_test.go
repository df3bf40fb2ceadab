package taskrunner_test

import (
	"os/exec"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/model"
)

const onePage = "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Count 1/Kids[4 0 R]>>endobj\n" +
	"3 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\n" +
	"4 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 3 0 R>>>>/Contents 5 0 R>>endobj\n" +
	"5 0 obj<</Length 41>>stream\nBT /F1 24 Tf 72 700 Td (some words) Tj ET\nendstream endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"

// TestTheModelSeesThePagesOfAPDF by the programs of the machine, run as the task's commands are.
func TestTheModelSeesThePagesOfAPDF(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("pdftoppm"); err != nil {
		t.Skip("pdftoppm is not on this machine: package poppler-utils")
	}
	l := newLab(t)
	l.repo(map[string]string{"paper.pdf": onePage, "broken.pdf": "%PDF-1.4\nno"})
	l.model.responses = []model.Response{use("read_file", `{"path":"paper.pdf"}`), use("read_file", `{"path":"broken.pdf"}`), say("Done.")}
	r := l.do(choir.DirectorTask{Kind: choir.TaskInspect, Repo: "app"})
	holds(t, r, choir.StatusOK, "")
	page := l.model.requests[1].Messages[2].Content[0]
	if !strings.Contains(page.Text, "page 1 of 1]\nsome words") || len(page.Images) != 1 || page.Images[0].MediaType != "image/jpeg" {
		t.Errorf("it is shown %d images and %q", len(page.Images), page.Text)
	}
	if said := l.model.requests[2].Messages[4].Content[0].Text; !strings.Contains(said, "pdfinfo cannot read") {
		t.Errorf("of the broken one it is told %q", said)
	}
}
