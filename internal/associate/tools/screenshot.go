package tools

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"
	"time"

	"choiros/internal/associate/browser"
	"choiros/internal/choir"
	"choiros/internal/model"
)

// Sizes of a page in pictures, in pixels, and how long it settles by default.
const (
	pictureWidth  = 1280
	pictureHeight = 800
	settleTime    = time.Second
)

// egressPort is the port of the loopback network at which the egress door is: not the page's own.
const egressPort = "8801"

type screenshot struct {
	URL    string `json:"url,omitempty" choir:"len=1..2048"`
	Path   string `json:"path,omitempty" choir:"len=1..4096"`
	Width  int    `json:"width,omitempty" choir:"range=200..2000"`
	Height int    `json:"height,omitempty" choir:"range=200..2000"`
	Full   bool   `json:"full,omitempty"`
	WaitS  int    `json:"wait_s,omitempty" choir:"range=1..10"`
	Save   string `json:"save,omitempty" choir:"len=1..4096"`
}

// Check returns an error unless the call names one page. DecodeStrict calls it.
func (in *screenshot) Check() error {
	if (in.URL == "") == (in.Path == "") {
		return choir.Invalid("url", "is required, or path in its place: one of them")
	}
	if in.Save != "" && !strings.EqualFold(path.Ext(in.Save), ".png") {
		return choir.Invalid("save", "%q must end with .png", in.Save)
	}
	return nil
}

func (in *screenshot) record() choir.ToolInput {
	return choir.ToolInput{URL: in.URL, Path: in.Path, Width: in.Width, Height: in.Height, Full: in.Full, WaitS: in.WaitS, Save: in.Save}
}

func (in *screenshot) run(ctx context.Context, k *Kit) (Output, error) {
	address, err := in.address(k)
	if err != nil {
		return Output{}, err
	}
	if in.Save != "" {
		if _, err := k.Files.resolveOwn(in.Save); err != nil {
			return Output{}, err
		}
	}
	page := browser.Page{URL: address, Width: in.Width, Height: in.Height, Full: in.Full, Settle: time.Duration(in.WaitS) * time.Second}
	if page.Width == 0 {
		page.Width = pictureWidth
	}
	if page.Height == 0 {
		page.Height = pictureHeight
	}
	if page.Settle == 0 {
		page.Settle = settleTime
	}
	pic, err := k.Picture(ctx, page)
	switch {
	case errors.Is(err, ErrNoProgram):
		return Output{}, choir.Invalid("url", "no picture can be taken: there is no browser on this machine (package chromium)")
	case err != nil:
		return Output{}, err
	}
	return in.show(k, pic)
}

// address returns the address that the browser opens: that of a server on this machine, or of a
// file of the workspace. Code forbidden: any other.
func (in *screenshot) address(k *Kit) (string, error) {
	if in.Path != "" {
		f, _, err := k.Files.open(in.Path)
		if err != nil {
			return "", err
		}
		f.Close()
		name, err := k.Files.resolve(in.Path)
		return (&url.URL{Scheme: "file", Path: path.Join(k.Files.dir, name)}).String(), err
	}
	u, err := url.Parse(in.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
		return "", choir.Invalid("url", "%q is not an http or https address", in.URL)
	}
	switch host := u.Hostname(); {
	case host != "localhost" && host != "127.0.0.1" && host != "::1", u.Port() == egressPort:
		e := choir.Invalid("url", "%q is not a server of this task: pictures are of pages at localhost and of files", in.URL)
		e.Code = choir.CodeForbidden
		return "", e
	}
	return u.String(), nil
}

// show returns a picture as the model sees it, and writes it where that was asked for.
func (in *screenshot) show(k *Kit, pic *browser.Picture) (Output, error) {
	out := Output{OK: true}
	var b strings.Builder
	fmt.Fprintf(&b, "[%s%s, %d x %d pixels, title %q]\n", in.URL, in.Path, pic.Width, pic.Height, pic.Title)
	if pic.NotLoaded {
		b.WriteString("[the page was still loading]\n")
	}
	if pic.Cut {
		b.WriteString("[the page is longer than the picture]\n")
	}
	for _, m := range pic.Mistakes {
		fmt.Fprintf(&b, "[error of the page] %s\n", m)
	}
	if in.Save != "" {
		name, err := k.Files.resolveOwn(in.Save)
		if err == nil {
			err = fault(in.Save, k.Files.own.MkdirAll(path.Dir(name), 0o777))
		}
		if err == nil {
			err = k.Files.replace(in.Save, pic.PNG, 0)
		}
		if err != nil {
			return Output{}, err
		}
		fmt.Fprintf(&b, "[saved as %s, %d bytes]\n", in.Save, len(pic.PNG))
	}
	if len(pic.PNG) > maxImageBytes {
		fmt.Fprintf(&b, "[the picture is not shown: it has %d bytes, and at most %d are; ask for a smaller one]\n", len(pic.PNG), maxImageBytes)
	} else {
		out.Images = []model.Image{{MediaType: "image/png", Data: base64.StdEncoding.EncodeToString(pic.PNG)}}
	}
	out.Text = b.String()
	return out, nil
}
