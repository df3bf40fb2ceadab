// Package browser takes a picture of a page by a Chromium that was started with
// --remote-debugging-pipe, over its DevTools protocol
// (https://chromedevtools.github.io/devtools-protocol). It starts no process.
package browser

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"choiros/internal/choir"
)

// Args are the arguments of a Chromium for Shoot: it has its profile in a folder, and opens no
// address but those of this machine itself.
func Args(profile string) []string {
	return []string{
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--disable-extensions", "--hide-scrollbars", "--mute-audio",
		"--no-proxy-server", "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE localhost , EXCLUDE 127.0.0.1 , EXCLUDE ::1",
		"--user-data-dir=" + profile, "--remote-debugging-pipe", "about:blank",
	}
}

// Page describes the picture.
type Page struct {
	URL           string
	Width, Height int
	Full          bool          // the whole page, at most maxFull pixels high
	Settle        time.Duration // after the page was loaded
}

// Picture is a page as it looked.
type Picture struct {
	Title     string
	PNG       []byte
	Width     int // in pixels
	Height    int
	Cut       bool     // the page is higher
	Mistakes  []string // of its scripts and requests, bounded
	NotLoaded bool     // the page was still loading
}

const (
	loadPatience = 15 * time.Second // for a page to be loaded
	maxFull      = 6000             // pixels of height
	maxMistakes  = 10
	mistakeBytes = 400
	maxMessage   = 64 << 20 // bytes
)

// Shoot loads a page in the browser at the other end of conn, and returns its picture. Code
// invalid: the page cannot be loaded, or the browser does not work. The caller ends the browser
// when ctx ends, which ends Shoot too.
func Shoot(ctx context.Context, conn io.ReadWriter, p Page) (*Picture, error) {
	s := &session{conn: conn, in: bufio.NewScanner(conn)}
	s.in.Buffer(nil, maxMessage)
	s.in.Split(splitZero)
	if err := s.attach(); err != nil {
		return nil, err
	}
	pic := &Picture{Width: p.Width, Height: p.Height}
	if err := s.load(ctx, p, pic); err != nil {
		return nil, err
	}
	if err := s.capture(p, pic); err != nil {
		return nil, err
	}
	pic.Mistakes = s.mistakes
	return pic, nil
}

// session is a conversation with one tab of a browser.
type session struct {
	conn     io.Writer
	in       *bufio.Scanner
	last     int    // id of the last command
	id       string // of the tab's session; "" before attach
	mistakes []string
}

// command asks the browser for something.
type command struct {
	ID      int    `json:"id"`
	Method  string `json:"method"`
	Params  params `json:"params"`
	Session string `json:"sessionId,omitempty"`
}

// params are the parameters of all commands; each uses some of them.
type params struct {
	URL           string `json:"url,omitempty"`
	TargetID      string `json:"targetId,omitempty"`
	Flatten       bool   `json:"flatten,omitempty"`
	Format        string `json:"format,omitempty"`
	Expression    string `json:"expression,omitempty"`
	AwaitPromise  bool   `json:"awaitPromise,omitempty"`
	ReturnByValue bool   `json:"returnByValue,omitempty"`
	*metrics
}

// metrics are the parameters of Emulation.setDeviceMetricsOverride, which demands all of them.
type metrics struct {
	Width  int  `json:"width"`
	Height int  `json:"height"`
	Scale  int  `json:"deviceScaleFactor"`
	Mobile bool `json:"mobile"`
}

// message is a reply to a command, which has an ID, or an event.
type message struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// attach opens a tab and begins a session with it.
func (s *session) attach() error {
	var tab struct {
		TargetID string `json:"targetId"`
	}
	if err := s.call("Target.createTarget", params{URL: "about:blank"}, &tab); err != nil {
		return err
	}
	var attached struct {
		SessionID string `json:"sessionId"`
	}
	if err := s.call("Target.attachToTarget", params{TargetID: tab.TargetID, Flatten: true}, &attached); err != nil {
		return err
	}
	s.id = attached.SessionID
	for _, domain := range []string{"Page.enable", "Runtime.enable", "Log.enable"} {
		if err := s.call(domain, params{}, nil); err != nil {
			return err
		}
	}
	return nil
}

// load opens the page, and waits until it is loaded and has settled.
func (s *session) load(ctx context.Context, p Page, pic *Picture) error {
	if err := s.resize(p.Width, p.Height); err != nil {
		return err
	}
	var nav struct {
		ErrorText string `json:"errorText"`
	}
	if err := s.call("Page.navigate", params{URL: p.URL}, &nav); err != nil {
		return err
	}
	if nav.ErrorText != "" {
		return choir.Invalid("url", "%q cannot be loaded: %s", p.URL, nav.ErrorText)
	}
	// The page itself says when it is loaded, so that nothing else has to be waited for.
	wait := fmt.Sprintf(`new Promise((done) => {
		const late = setTimeout(() => done(false), %d);
		const loaded = () => { clearTimeout(late); setTimeout(() => done(true), %d); };
		document.readyState === "complete" ? loaded() : addEventListener("load", loaded, { once: true });
	})`, loadPatience.Milliseconds(), p.Settle.Milliseconds())
	loaded, err := s.evaluate(wait)
	if err != nil {
		return err
	}
	pic.NotLoaded = loaded != "true"
	title, err := s.evaluate("document.title")
	pic.Title = cut(title)
	if err == nil {
		err = ctx.Err()
	}
	return err
}

// capture takes the picture.
func (s *session) capture(p Page, pic *Picture) error {
	if p.Full {
		height, err := s.evaluate("Math.ceil(document.documentElement.scrollHeight)")
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(height)
		if err != nil {
			return broken("the height of the page is %q", height)
		}
		pic.Cut = n > maxFull
		pic.Height = min(max(n, p.Height), maxFull)
		if err := s.resize(p.Width, pic.Height); err != nil {
			return err
		}
	}
	var shot struct {
		Data []byte `json:"data"`
	}
	err := s.call("Page.captureScreenshot", params{Format: "png"}, &shot)
	pic.PNG = shot.Data
	return err
}

// resize sets the size of the page, in pixels.
func (s *session) resize(width, height int) error {
	return s.call("Emulation.setDeviceMetricsOverride", params{metrics: &metrics{Width: width, Height: height, Scale: 1}}, nil)
}

// evaluate returns the value of an expression in the page, as text; a promise is awaited.
func (s *session) evaluate(expression string) (string, error) {
	var out struct {
		Result struct {
			Value any `json:"value"`
		} `json:"result"`
	}
	err := s.call("Runtime.evaluate", params{Expression: expression, AwaitPromise: true, ReturnByValue: true}, &out)
	return fmt.Sprint(out.Result.Value), err
}

// call sends a command and decodes its result into result, which may be nil.
func (s *session) call(method string, p params, result any) error {
	s.last++
	raw, err := json.Marshal(command{ID: s.last, Method: method, Params: p, Session: s.id})
	if err != nil {
		return err
	}
	if _, err := s.conn.Write(append(raw, 0)); err != nil {
		return broken("%s cannot be asked: %v", method, err)
	}
	for s.in.Scan() {
		var m message
		if err := json.Unmarshal(s.in.Bytes(), &m); err != nil {
			return broken("it says what is no JSON: %v", err)
		}
		switch {
		case m.ID == 0:
			s.collectMistake(m)
		case m.ID != s.last:
		case m.Error != nil:
			return broken("%s: %s", method, m.Error.Message)
		case result != nil:
			if err := json.Unmarshal(m.Result, result); err != nil {
				return broken("%s: %v", method, err)
			}
			return nil
		default:
			return nil
		}
	}
	return broken("it ended at %s", method)
}

// collectMistake keeps the mistake of the page that an event tells, if it tells one.
func (s *session) collectMistake(m message) {
	var p struct {
		Type string `json:"type"`
		Args []struct {
			Value       any    `json:"value"`
			Description string `json:"description"`
		} `json:"args"`
		Exception struct {
			Text      string `json:"text"`
			Exception struct {
				Description string `json:"description"`
			} `json:"exception"`
		} `json:"exceptionDetails"`
		Entry struct {
			Level, Text, URL string
		} `json:"entry"`
	}
	if json.Unmarshal(m.Params, &p) != nil {
		return // of a kind that is not looked at
	}
	switch {
	case m.Method == "Runtime.exceptionThrown":
		s.note(p.Exception.Text + " " + p.Exception.Exception.Description)
	case m.Method == "Runtime.consoleAPICalled" && p.Type == "error":
		var words []string
		for _, a := range p.Args {
			if a.Value != nil {
				words = append(words, fmt.Sprint(a.Value))
			} else {
				words = append(words, a.Description)
			}
		}
		s.note(strings.Join(words, " "))
	case m.Method == "Log.entryAdded" && p.Entry.Level == "error":
		s.note(strings.TrimSpace(p.Entry.Text + " " + p.Entry.URL))
	}
}

// note keeps one of the page's mistakes, unless there are enough.
func (s *session) note(mistake string) {
	if len(s.mistakes) < maxMistakes {
		s.mistakes = append(s.mistakes, cut(mistake))
	}
}

// cut returns a text on one line of at most mistakeBytes bytes.
func cut(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > mistakeBytes {
		text = strings.ToValidUTF8(text[:mistakeBytes], "") + "…"
	}
	return text
}

// splitZero is a bufio.SplitFunc for messages that each end with a zero byte.
func splitZero(data []byte, _ bool) (advance int, token []byte, err error) {
	if i := bytes.IndexByte(data, 0); i >= 0 {
		return i + 1, data[:i], nil
	}
	return 0, nil, nil
}

// broken returns an error of the browser.
func broken(format string, args ...any) error {
	return choir.E("browser", choir.CodeInvalid, "the browser does not work: "+format, args...)
}
