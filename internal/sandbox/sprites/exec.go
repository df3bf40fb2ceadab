package sprites

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"choiros/internal/choir"
)

// The first byte of a message of a program's WebSocket says what the rest is.
const (
	streamInput    = 0
	streamOutput   = 1
	streamError    = 2
	streamExit     = 3 // with the exit code in one byte
	streamInputEnd = 4
)

const (
	// mostMessage bounds one message of the service.
	mostMessage = 4 << 20
	// mostErrors is how much of a program's standard error is kept, its end.
	mostErrors = 4 << 10
	// inputBytes is how much of the input goes into one message.
	inputBytes = 32 << 10
	// pingEvery and pongWithin notice a connection whose other end is gone.
	pingEvery  = 15 * time.Second
	pongWithin = 20 * time.Second
	// closePatience is how long the end of the input may take to be sent.
	closePatience = time.Second
	// leftForever keeps a program running whose connection was cut; leftBriefly ends it.
	leftForever = "0"
	leftBriefly = "1s"
)

// program is a program that runs in a sprite: its input and output are a net.Conn. Close
// gives it up: whether it ends with that depends on how it was started.
type program struct {
	net.Conn // our end of the pipe to carrying
	sprite   string
	ws       *websocket.Conn
	carrying sync.WaitGroup
	cancel   context.CancelFunc

	mu     sync.Mutex // guards what follows
	code   int        // -1 until it has ended
	errors []byte     // the end of its standard error
	cut    error      // why the connection ended before the program did
}

// run starts a program in a sprite. ctx bounds the start alone. left says how long the
// program may go on after its connection is cut. The caller closes it.
func (a *api) run(ctx context.Context, name, left string, argv ...string) (*program, error) {
	token, err := a.token(ctx)
	if err != nil {
		return nil, err
	}
	query := url.Values{"cmd": argv, "path": {argv[0]}, "stdin": {"true"}, "max_run_after_disconnect": {left}}
	address := a.cfg.URL + "/v1/sprites/" + url.PathEscape(name) + "/exec?" + query.Encode()
	ws, answer, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(address, "http"), &websocket.DialOptions{
		HTTPClient: a.http, HTTPHeader: http.Header{"Authorization": {"Bearer " + token}},
	})
	if err != nil {
		if answer == nil || answer.StatusCode == http.StatusSwitchingProtocols {
			return nil, a.unreachable("run a program in", err)
		}
		raw := []byte{}
		if answer.Body != nil { // its beginning, which the library has read
			raw, _ = io.ReadAll(io.LimitReader(answer.Body, mostAnswer)) // it only explains another error
		}
		if answer.StatusCode/100 == 2 {
			return nil, nonsense("run a program in a sprite", "it opens no WebSocket")
		}
		return nil, refusalOf("run a program in", answer.StatusCode, answer.Header, raw, token)
	}
	ws.SetReadLimit(mostMessage)
	ours, theirs := net.Pipe()
	p := &program{Conn: ours, sprite: name, ws: ws, code: -1}
	carried, cancel := context.WithCancel(context.WithoutCancel(ctx))
	p.cancel = cancel
	p.carrying.Go(func() { p.carryOutput(carried, theirs) })
	p.carrying.Go(func() { p.carryInput(carried, theirs) })
	p.carrying.Go(func() { p.ping(carried) })
	return p, nil
}

// carryOutput passes on what the service sends, until the program ends or the connection.
func (p *program) carryOutput(ctx context.Context, to net.Conn) {
	defer p.cancel()
	defer to.Close()
	for {
		kind, message, err := p.ws.Read(ctx)
		if err != nil {
			p.note(func() { p.cut = err })
			return
		}
		if kind != websocket.MessageBinary || len(message) == 0 {
			continue // what the service tells of ports and sessions
		}
		switch content := message[1:]; message[0] {
		case streamOutput:
			if _, err := to.Write(content); err != nil {
				return // the caller has closed it
			}
		case streamError:
			p.note(func() { p.errors = lastOf(append(p.errors, content...)) })
		case streamExit:
			p.note(func() {
				p.code = 0
				if len(content) > 0 {
					p.code = int(content[0])
				}
			})
			return
		}
	}
}

func lastOf(text []byte) []byte { return bytes.Clone(text[max(0, len(text)-mostErrors):]) }

// carryInput sends what the caller writes, until it closes the program or the connection ends.
func (p *program) carryInput(ctx context.Context, from net.Conn) {
	defer p.ws.CloseNow()
	buf := make([]byte, 1+inputBytes)
	buf[0] = streamInput
	for {
		n, err := from.Read(buf[1:])
		if err != nil {
			// Best effort: a program that ends with its input ends sooner.
			p.ws.Write(ctx, websocket.MessageBinary, []byte{streamInputEnd})
			return
		}
		if err := p.ws.Write(ctx, websocket.MessageBinary, buf[:1+n]); err != nil {
			from.Close()
			return
		}
	}
}

// ping ends the connection when its other end no longer answers.
func (p *program) ping(ctx context.Context) {
	tick := time.NewTicker(pingEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		within, cancel := context.WithTimeout(ctx, pongWithin)
		err := p.ws.Ping(within)
		cancel()
		if err != nil {
			p.ws.CloseNow()
			return
		}
	}
}

func (p *program) note(what func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	what()
}

// Read implements net.Conn. The end of a program with code 0 is io.EOF; any other end is
// code unavailable, and says whether the program ended or its connection was cut.
func (p *program) Read(b []byte) (int, error) {
	n, err := p.Conn.Read(b)
	if errors.Is(err, io.EOF) {
		if ended := p.ended(); ended != nil {
			err = ended
		}
	}
	return n, err
}

// ended returns how the program ended whose output is at its end: nil for code 0.
func (p *program) ended() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	const op = "sprites.program"
	if p.code < 0 {
		return choir.Wrap(op, choir.CodeUnavailable, cmp.Or(p.cut, io.ErrUnexpectedEOF), "the connection to the sprite %s was cut", p.sprite)
	}
	if p.code == 0 {
		return nil
	}
	e := choir.E(op, choir.CodeUnavailable, "a program in the sprite %s ended with code %d", p.sprite, p.code)
	if said := clip(string(p.errors)); said != "" {
		e.Msg += ", saying " + said
	}
	return e
}

// exit returns the exit code of a program whose output is at its end, and the end of its
// standard error; -1 if the connection was cut.
func (p *program) exit() (code int, said string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.code, string(bytes.TrimSpace(p.errors))
}

// Close ends the connection and waits for its goroutines. It implements net.Conn.
func (p *program) Close() error {
	err := p.Conn.Close()
	late := time.AfterFunc(closePatience, p.cancel) // the service may not read what it is sent
	p.carrying.Wait()
	late.Stop()
	return err
}

// ask runs a program to its end and returns its output, of which there may be most bytes.
// Another code than 0 is code unavailable, with the program's standard error.
func (a *api) ask(ctx context.Context, name string, most int64, argv ...string) (string, error) {
	p, err := a.run(ctx, name, leftBriefly, argv...)
	if err != nil {
		return "", err
	}
	defer p.Close()
	stop := context.AfterFunc(ctx, func() { p.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	out, err := io.ReadAll(io.LimitReader(p, most+1))
	if ctx.Err() != nil {
		return "", a.unreachable("run a program in", ctx.Err())
	}
	if err == nil && int64(len(out)) > most {
		err = choir.E("sprites.program", choir.CodeTooLarge, "a program in the sprite %s says more than %d bytes", name, most)
	}
	return string(out), err
}
