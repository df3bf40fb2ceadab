package bench

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"choiros/internal/blob/fs"
	"choiros/internal/choir"
	"choiros/internal/control/modelgw"
	"choiros/internal/eventstore"
	"choiros/internal/model"
	"choiros/internal/model/anthropic"
	"choiros/internal/model/gateway"
)

// benchFirstToken measures what the model gateway adds before the first piece of an answer,
// beside a direct call of the same provider: alone, and while other streams are open. The
// gateway records each call in a log on the disk, as that of a computer does. The provider
// is on loopback and answers at once; those outside think for longer.
func benchFirstToken(ctx context.Context, l *lab, emit func(Row)) error {
	open, beside := 1000, " beside 1,000 streams"
	if l.quick {
		open, beside = 20, " beside 20 streams"
	}
	w, err := newModelWorld(l, open)
	if err != nil {
		return err
	}
	defer w.close()
	if err := w.measureAdded(ctx, l.count(300), "", emit); err != nil {
		return err
	}
	end, err := w.openStreams(ctx, open)
	if err != nil {
		return err
	}
	err = w.measureAdded(ctx, l.count(300), beside, emit)
	return errors.Join(err, end())
}

// streamPause is the time between two pieces of each open stream.
const streamPause = 100 * time.Millisecond

// endless in a request asks the provider of the benchmark for pieces without an end.
const endless = "without an end"

// modelWorld is a provider and the model gateway of a computer before it.
type modelWorld struct {
	provider *httptest.Server
	direct   *anthropic.Provider
	log      *eventstore.Store
	blobs    *fs.Store
	gateway  *modelgw.Gateway
	server   *http.Server
	served   chan struct{}
	tr       *http.Transport
	through  *gateway.Client
	calls    int // how many were made
}

func newModelWorld(l *lab, streams int) (w *modelWorld, err error) {
	dir, err := l.folder()
	if err != nil {
		return nil, err
	}
	now := func() choir.Time { return choir.TimeOf(time.Now()) }
	w = &modelWorld{provider: httptest.NewServer(http.HandlerFunc(streamAnswer)), served: make(chan struct{})}
	if w.blobs, err = fs.Open(filepath.Join(dir, "blobs")); err == nil {
		w.log, err = eventstore.Open(context.Background(), dir, eventstore.Config{Computer: benchComputer, User: benchUser, Now: now, Blobs: w.blobs})
	}
	var socket net.Listener
	at := filepath.Join(dir, "model.sock")
	if err == nil {
		socket, err = net.Listen("unix", at)
	}
	if err != nil {
		close(w.served)
		w.close()
		return nil, choir.Wrap("bench", choir.CodeUnavailable, err, "open the log of the model gateway in %s", dir)
	}
	w.direct = anthropic.New(anthropic.Config{BaseURL: w.provider.URL, Key: func(context.Context) (string, error) { return "k", nil }})
	w.gateway = modelgw.New(modelBooks{}, modelgw.Config{
		Computer: benchComputer, Log: w.log, Blobs: w.blobs, Now: now, NewID: func() (choir.ID, error) { return choir.NewID(now(), rand.Reader) }, Concurrent: streams + 16,
		Routing: modelgw.Fixed(map[string]modelgw.Route{"director": {Provider: w.direct, Model: "m", Free: true}}, nil),
		Caller:  func(*http.Request) (choir.Role, bool) { return choir.RoleDirector, true },
		MayCall: func(context.Context, choir.Role, choir.ID, choir.ID) error { return nil },
	})
	w.server = &http.Server{Handler: w.gateway}
	go func() {
		defer close(w.served)
		_ = w.server.Serve(socket) // it ends with close
	}()
	w.tr = &http.Transport{MaxIdleConnsPerHost: 16, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", at)
	}}
	w.through = gateway.New(&http.Client{Transport: w.tr})
	return w, nil
}

func (w *modelWorld) close() {
	if w.server != nil {
		w.tr.CloseIdleConnections()
		w.gateway.Close()
		w.server.Close()
	}
	<-w.served
	w.provider.CloseClientConnections()
	w.provider.Close()
	if w.log != nil {
		w.log.Close()
	}
	if w.blobs != nil {
		w.blobs.Close()
	}
}

// streamAnswer is the provider: it answers in the form of Anthropic's Messages API.
func streamAnswer(rw http.ResponseWriter, r *http.Request) {
	asked, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client sees a broken connection
	}
	flush := func(event, data string) error {
		_, err := fmt.Fprintf(rw, "event: %s\ndata: {\"type\":%q,%s}\n\n", event, event, data)
		return errors.Join(err, http.NewResponseController(rw).Flush())
	}
	rw.Header().Set("Content-Type", "text/event-stream")
	piece := func(n int) error {
		return flush("content_block_delta", `"index":0,"delta":{"type":"text_delta","text":"`+strconv.Itoa(n)+` "}`)
	}
	err = errors.Join(
		flush("message_start", `"message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":10,"output_tokens":1}}`),
		flush("content_block_start", `"index":0,"content_block":{"type":"text","text":""}`), piece(0))
	if strings.Contains(string(asked), endless) {
		tick := time.NewTicker(streamPause)
		defer tick.Stop()
		for n := 1; err == nil; n++ {
			select {
			case <-tick.C:
				err = piece(n)
			case <-r.Context().Done():
				return
			}
		}
	}
	if err == nil {
		_ = errors.Join(flush("content_block_stop", `"index":0`), // the client sees what does not come
			flush("message_delta", `"delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}`), flush("message_stop", `"x":0`))
	}
}

// modelBooks are those of a computer that has not called a model yet.
type modelBooks struct{}

func (modelBooks) Spent(context.Context, choir.ID) (modelgw.Used, error)  { return modelgw.Used{}, nil }
func (modelBooks) BegunByDesktop(context.Context, choir.ID) (bool, error) { return false, nil }
func (modelBooks) SpentByDesktop(context.Context) (modelgw.Used, error)   { return modelgw.Used{}, nil }
func (modelBooks) Unreturned(context.Context) ([]choir.Event, error)      { return nil, nil }

// request returns a request with a text.
func request(text string) model.Request {
	return model.Request{Model: "director", MaxTokens: 100, Messages: []model.Message{
		{Role: model.User, Content: []model.Block{{Kind: model.Text, Text: text}}},
	}}
}

// nextCall returns a new call of a new run.
func (w *modelWorld) nextCall() gateway.CallInfo {
	w.calls++
	n := strconv.Itoa(w.calls)
	return gateway.CallInfo{Call: choir.DeriveID(benchComputer, "call "+n), Run: choir.DeriveID(benchComputer, "run "+n), Caller: "director"}
}

// firstPiece returns the milliseconds until the first piece of an answer.
func firstPiece(call func(on func(model.Delta)) error) (float64, error) {
	began := time.Now()
	var first time.Duration
	err := call(func(model.Delta) {
		if first == 0 {
			first = time.Since(began)
		}
	})
	if err == nil && first == 0 {
		err = choir.E("bench", choir.CodeUnavailable, "the answer had no piece")
	}
	return millis(first), err
}

// measureAdded makes n calls through the gateway and n direct ones in turn, and emits the
// row of both and the row of the difference in each turn.
func (w *modelWorld) measureAdded(ctx context.Context, n int, beside string, emit func(Row)) error {
	req := request("Say a number.")
	var last, added samples
	ours := func(context.Context) (float64, error) {
		v, err := firstPiece(func(on func(model.Delta)) error {
			_, err := w.through.Call(ctx, w.nextCall(), req, on)
			return err
		})
		last = append(last, v)
		return v, err
	}
	peer := func(context.Context) (float64, error) {
		return firstPiece(func(on func(model.Delta)) error {
			_, err := w.direct.Stream(ctx, req, on)
			return err
		})
	}
	row := Row{Case: "first token" + beside, Unit: "ms", Peer: "a direct call", Durable: true}
	t := turns{n: n, warmup: 20, ours: ours, peer: func(ctx context.Context) (float64, error) {
		v, err := peer(ctx)
		added = append(added, v)
		return v, err
	}}
	row, err := t.measure(ctx, row)
	if err != nil {
		return err
	}
	emit(row)
	for i := range added {
		added[i] = last[i] - added[i]
	}
	over := Row{Case: "first token" + beside + ", added", Unit: "ms", Durable: true, Warmup: t.warmup}
	over.numbers(added[t.warmup:], nil, false)
	emit(over)
	return nil
}

// openStreams opens n streams through the gateway, and returns when each has had a piece.
// end ends them and returns the error of a stream that had ended before.
func (w *modelWorld) openStreams(ctx context.Context, n int) (end func() error, err error) {
	ctx, cancel := context.WithCancel(ctx)
	heard := make(chan struct{}, n)
	ended := make(chan error, n)
	var all sync.WaitGroup
	for range n {
		info := w.nextCall()
		all.Go(func() {
			var once sync.Once
			_, err := w.through.Call(ctx, info, request("Say numbers "+endless), func(model.Delta) { once.Do(func() { heard <- struct{}{} }) })
			if ctx.Err() == nil {
				ended <- choir.Wrap("bench", "", errors.Join(err, errors.New("the stream ended")), "keep a stream open")
			}
		})
	}
	end = func() error {
		cancel()
		all.Wait()
		select {
		case err := <-ended:
			return err
		default:
			return nil
		}
	}
	for range n {
		select {
		case <-heard:
		case err := <-ended:
			return nil, errors.Join(err, end())
		}
	}
	return end, nil
}
