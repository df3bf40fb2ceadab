package taskrunner_test

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// needBrowser skips the test on a machine without a browser.
func needBrowser(t *testing.T) {
	t.Helper()
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if _, err := os.Stat("/usr/bin/" + name); err == nil {
			return
		}
	}
	t.Skip("no browser is on this machine: package chromium")
}

// page is a page of one colour with a broken script.
const page = `<!doctype html><title>Blue</title><body style="margin:0;background:rgb(0,0,250);height:1500px"><script>console.error("not", "today"); setTimeout(() => { document.body.style.background = "rgb(250,0,0)"; oops(); }, 300)</script>`

// pictureOf returns the picture in the model's request after call n.
func (l *lab) pictureOf(n int) image.Image {
	l.Helper()
	block := l.model.requests[n].Messages[2*n].Content[0]
	if len(block.Images) != 1 {
		l.Fatalf("after call %d it sees %d pictures and is told %q", n, len(block.Images), block.Text)
	}
	raw, err := base64.StdEncoding.DecodeString(block.Images[0].Data)
	if err != nil {
		l.Fatal(err)
	}
	pic, err := png.Decode(bytes.NewReader(raw))
	if err != nil {
		l.Fatal(err)
	}
	return pic
}

// TestTheModelSeesThePageItMade: a file, and the same page of its own server, saved where it says
// and nowhere else; what the page's scripts did wrong is told.
func TestTheModelSeesThePageItMade(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	l := newLab(t)
	l.write("workspace/page.html", page)
	l.model.responses = []model.Response{
		use("screenshot", `{"path":"workspace/page.html","width":300,"height":200}`),
		use("bash", `{"command":"cd workspace && exec python3 -u -m http.server 0 --bind 127.0.0.1 > port 2>&1","wait_s":1}`),
		use("bash", `{"command":"until grep -o 'port [0-9]*' workspace/port; do sleep 0.05; done"}`),
	}
	l.model.on = func(n int) {
		if n == 3 {
			said := l.model.requests[3].Messages[6].Content[0].Text
			port := strings.Fields(said)[1]
			l.model.responses = append(l.model.responses,
				use("screenshot", `{"url":"http://localhost:`+port+`/page.html","width":300,"height":200,"full":true,"save":"pictures/page.png"}`), say("Done."))
		}
	}
	r := l.do(choir.DirectorTask{Kind: choir.TaskEditRepo, VerifyProfile: unverified})
	holds(t, r, choir.StatusOK, "")
	for n, height := range map[int]int{1: 200, 4: 1500} {
		pic := l.pictureOf(n)
		if b := pic.Bounds(); b.Dx() != 300 || b.Dy() != height || !near(pic.At(150, 100), 250, 0, 0) {
			t.Errorf("after call %d it sees %v, in its middle %v", n, b, pic.At(150, 100))
		}
		told := l.model.requests[n].Messages[2*n].Content[0].Text
		for _, want := range []string{`title "Blue"`, "[error of the page] not today", "oops is not defined"} {
			if !strings.Contains(told, want) {
				t.Errorf("after call %d it is told %q", n, told)
			}
		}
	}
	saved, err := png.Decode(strings.NewReader(l.read("pictures/page.png")))
	if err != nil || saved.Bounds().Dy() != 1500 {
		t.Errorf("saved is %v", err)
	}
	if found, _ := filepath.Glob(filepath.Join(l.dir, "*", "*.png")); len(found) != 1 {
		t.Errorf("pictures are at %q", found)
	}
}

// near reports whether a colour is that of these parts of 255.
func near(c color.Color, r, g, b uint32) bool {
	hasR, hasG, hasB, _ := c.RGBA()
	return hasR>>8 == r && hasG>>8 == g && hasB>>8 == b
}

// TestAPictureIsOfTheTasksOwnPages refuses what is elsewhere, and says what cannot be loaded.
func TestAPictureIsOfTheTasksOwnPages(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	l := newLab(t)
	l.write("workspace/outside.html", `<!doctype html><title>Out</title><img src="http://192.0.2.1/a.png"><img src="http://127.0.16.1/b.png"><img src="http://example.com/c.png">`)
	calls := []struct{ input, want string }{
		{`{"url":"http://example.com/"}`, "is not a server of this task"},
		{`{"url":"http://127.0.0.1.example.com/"}`, "is not a server of this task"},
		{`{"url":"http://user@localhost/"}`, "is not an http or https address"},
		{`{"url":"file:///etc/passwd"}`, "is not an http or https address"},
		{`{"url":"http://127.0.0.1:8801/"}`, "is not a server of this task"},
		{`{"url":"http://localhost:1/"}`, "cannot be loaded: net::ERR_"},
		{`{"path":"../../etc/passwd"}`, "leads out of the workspace"},
		{`{"path":"workspace/none.html"}`, "does not exist"},
		{`{"path":"workspace/outside.html","save":"page.html"}`, "must end with .png"},
		{`{"path":"workspace/outside.html","save":"../page.png"}`, "leads out of the workspace"},
		{`{"path":"workspace/outside.html","url":"http://localhost/"}`, "one of them"},
		{`{"path":"workspace/outside.html"}`, "ERR_NAME_NOT_RESOLVED http://192.0.2.1/a.png|ERR_NAME_NOT_RESOLVED http://127.0.16.1/b.png|ERR_NAME_NOT_RESOLVED http://example.com/c.png"},
	}
	for _, c := range calls {
		l.model.responses = append(l.model.responses, use("screenshot", c.input))
	}
	l.model.responses = append(l.model.responses, say("Done."))
	r := l.do(choir.DirectorTask{Kind: choir.TaskEditRepo, VerifyProfile: unverified})
	holds(t, r, choir.StatusOK, "")
	for i, c := range calls {
		told := l.model.requests[i+1].Messages[2*i+2].Content[0].Text
		for _, want := range strings.Split(c.want, "|") {
			if !strings.Contains(told, want) {
				t.Errorf("%s is answered %q, want %q", c.input, told, want)
			}
		}
	}
}
