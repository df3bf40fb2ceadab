package browser

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"

	"choiros/internal/choir"
)

// replies are what a browser says to a whole conversation, in its order.
var replies = []string{
	`{"id":1,"result":{"targetId":"T"}}`, `{"id":2,"result":{"sessionId":"S"}}`, `{"id":3,"result":{}}`, `{"id":4,"result":{}}`,
	`{"method":"Log.entryAdded","params":{"entry":{"level":"error","text":"no such picture","url":"http://localhost/a.png"}}}`,
	`{"method":"Runtime.consoleAPICalled","params":{"type":"log","args":[{"value":"fine"}]}}`,
	`{"id":5,"result":{}}`, `{"id":6,"result":{}}`, `{"id":7,"result":{"frameId":"F"}}`,
	`{"id":8,"result":{"result":{"type":"boolean","value":true}}}`, `{"id":9,"result":{"result":{"value":"Mine"}}}`,
	`{"id":10,"result":{"result":{"value":9000}}}`, `{"id":11,"result":{}}`, `{"id":12,"result":{"data":"cG5n"}}`,
}

// wire is a browser that has said everything before it is asked.
type wire struct {
	io.Reader
	io.Writer
}

func encodeMessages(messages ...string) io.Reader {
	var all strings.Builder
	for _, m := range messages {
		all.WriteString(m + "\x00")
	}
	return strings.NewReader(all.String())
}

func TestAPictureIsPutTogether(t *testing.T) {
	t.Parallel()
	var asked bytes.Buffer
	pic, err := Shoot(t.Context(), wire{encodeMessages(replies...), &asked}, Page{URL: "http://localhost/", Width: 300, Height: 200, Full: true})
	if err != nil {
		t.Fatal(err)
	}
	if string(pic.PNG) != "png" || pic.Title != "Mine" || pic.Height != maxFull || !pic.Cut || pic.NotLoaded || !slices.Equal(pic.Mistakes, []string{"no such picture http://localhost/a.png"}) {
		t.Errorf("it is %+v", pic)
	}
	if n := bytes.Count(asked.Bytes(), []byte{0}); n != 12 || !bytes.Contains(asked.Bytes(), []byte(`"sessionId":"S"`)) {
		t.Errorf("%d questions: %s", n, asked.Bytes())
	}
}

func TestWhatDoesNotWorkIsSaid(t *testing.T) {
	t.Parallel()
	refused := slices.Clone(replies[:9])
	refused[8] = `{"id":7,"result":{"errorText":"net::ERR_CONNECTION_REFUSED"}}`
	for want, said := range map[string][]string{
		"it ended at Target.createTarget":    nil,
		"it ended at Page.enable":            replies[:2],
		"it says what is no JSON":            {"{"},
		"Target.createTarget: no such thing": {`{"id":1,"error":{"message":"no such thing"}}`},
		"net::ERR_CONNECTION_REFUSED":        refused,
	} {
		_, err := Shoot(t.Context(), wire{encodeMessages(said...), io.Discard}, Page{URL: "http://localhost/"})
		if choir.CodeOf(err) != choir.CodeInvalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// FuzzShoot looks for replies on which it panics, or goes on for ever.
func FuzzShoot(f *testing.F) {
	for n := range replies {
		f.Add([]byte(strings.Join(replies[:n+1], "\x00") + "\x00"))
	}
	f.Fuzz(func(t *testing.T, said []byte) {
		pic, err := Shoot(t.Context(), wire{bytes.NewReader(said), io.Discard}, Page{URL: "http://localhost/", Width: 1, Height: 1, Full: true})
		if err == nil && (len(pic.Mistakes) > maxMistakes || pic.Height > maxFull) {
			t.Errorf("%+v", pic)
		}
	})
}
