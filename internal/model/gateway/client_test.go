package gateway

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// serve answers the n-th request, from 1, by a function; the client does not
// really pause.
func serve(t *testing.T, answer func(n int, w http.ResponseWriter)) (*Client, *int) {
	t.Helper()
	pauses := 0
	var n atomic.Int64 // a request may come before the handler of the last one is over
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		answer(int(n.Add(1)), w)
	}))
	t.Cleanup(s.Close)
	c := New(s.Client())
	c.url = s.URL + model.CallPath
	c.pause = func(ctx context.Context, _ time.Duration) error { pauses++; return ctx.Err() }
	return c, &pauses
}

func call(t *testing.T, c *Client) (string, model.Response, error) {
	t.Helper()
	text := ""
	resp, err := c.Call(t.Context(), CallInfo{Caller: "director"}, model.Request{}, func(d model.Delta) { text += d.Text })
	return text, resp, err
}

func TestACutStreamIsAskedAgainAndItsPiecesAreNot(t *testing.T) {
	c, pauses := serve(t, func(n int, w http.ResponseWriter) {
		fmt.Fprint(w, "data: {\"delta\":{\"text\":\"Hel\"}}\n\n")
		if n == 3 {
			fmt.Fprint(w, "data: {\"delta\":{\"text\":\"lo\"}}\n\ndata: {\"response\":{\"model\":\"m\",\"stop\":\"end\"}}\n\n")
		}
	})
	text, resp, err := call(t, c)
	if err != nil || resp.Model != "m" || text != "Hel" || *pauses != 2 {
		t.Errorf("heard %q, answer %+v, %v after %d pauses", text, resp, err, *pauses)
	}
}

func TestItGivesUpAfterABoundedNumber(t *testing.T) {
	c, pauses := serve(t, func(int, http.ResponseWriter) { panic(http.ErrAbortHandler) })
	if _, _, err := call(t, c); choir.CodeOf(err) != choir.CodeUnavailable || *pauses != attempts-1 {
		t.Errorf("%v after %d pauses", err, *pauses)
	}
}

func TestRefusalsAreNotAskedAgainUnlessBusy(t *testing.T) {
	for code, want := range map[choir.Code]int{choir.CodeBudget: 1, choir.CodeUnavailable: 1, choir.CodeBusy: 2} {
		asked := 0
		c, _ := serve(t, func(n int, w http.ResponseWriter) {
			asked = n
			if n == 2 {
				fmt.Fprint(w, "data: {\"response\":{\"model\":\"m\"}}\n\n")
				return
			}
			w.WriteHeader(code.HTTPStatus())
			fmt.Fprintf(w, `{"error":{"code":%q,"message":"no","remedy":"wait"}}`, code)
		})
		if _, _, err := call(t, c); asked != want || want == 1 && choir.CodeOf(err) != code {
			t.Errorf("%s: asked %d times, %v", code, asked, err)
		}
	}
}

func TestMalformedFramesAreErrors(t *testing.T) {
	c, _ := serve(t, func(_ int, w http.ResponseWriter) { fmt.Fprint(w, "data: {\"delta\":\n\n") })
	if _, _, err := call(t, c); choir.CodeOf(err) != choir.CodeInternal {
		t.Error(err)
	}
}
