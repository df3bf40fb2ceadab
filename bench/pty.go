package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"time"

	"github.com/coder/websocket"
	"github.com/creack/pty"

	"choiros/internal/choir"
	"choiros/internal/computer/rolehost"
	"choiros/internal/control/api"
)

const ptyPeer = "the echo of a bare PTY in the same run"

// benchPTY measures a key that is typed until its echo is there, through the
// gateway's WebSocket, the control plane, the sandbox and back; then ^C in a
// flood, until the program's end shows, and how much memory the flood takes.
func benchPTY(ctx context.Context, l *lab, emit func(Row)) (err error) {
	rows := []Row{{Case: "echo", Unit: "ms", Peer: ptyPeer}, {Case: "^C in a flood", Unit: "ms"}, {Case: "memory of a 100 MB flood", Unit: "MiB"}}
	if why := l.cannotServe(ctx); why != "" {
		emitSkipped(rows, why, emit)
		return nil
	}
	m, err := l.start(ctx, 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.stop()) }()
	w, err := m.openWire(ctx)
	if err != nil {
		return err
	}
	defer w.close()
	measures := []func(context.Context, *lab, *wire, Row) (Row, error){measureEcho, measureInterrupt, measureFlood}
	for i, measure := range measures {
		rows[i].Isolated = true
		row, err := measure(ctx, l, w, rows[i])
		if err != nil {
			return err
		}
		emit(row)
	}
	return nil
}

// measureEcho types into a program that only reads: the terminal itself echoes.
func measureEcho(ctx context.Context, l *lab, w *wire, r Row) (Row, error) {
	if err := w.run(ctx, "echo cat=$((40+2)); exec cat\n", "cat=42"); err != nil {
		return r, err
	}
	bare, stop, err := barePTY()
	if err != nil {
		return r, err
	}
	defer stop()
	one := make([]byte, 64)
	return turns{
		n: l.count(500), warmup: l.count(50),
		ours: func(ctx context.Context) (float64, error) {
			began := time.Now()
			err := w.run(ctx, "x", "x")
			return millis(time.Since(began)), err
		},
		peer: func(context.Context) (float64, error) {
			began := time.Now()
			_, err := bare.Write([]byte("x"))
			if err == nil {
				_, err = bare.Read(one)
			}
			return millis(time.Since(began)), err
		},
	}.measure(ctx, r)
}

// barePTY is a program behind a terminal, with nothing in between.
func barePTY() (master *os.File, stop func(), err error) {
	cmd := exec.Command("cat")
	if master, err = pty.Start(cmd); err != nil {
		return nil, nil, choir.Wrap("bench.pty", choir.CodeUnavailable, err, "start a bare PTY")
	}
	return master, func() {
		master.Close()
		cmd.Process.Kill()
		cmd.Wait()
	}, nil
}

// measureInterrupt types ^C while a flood runs. It is over when the terminal
// shows it, behind everything that was on its way.
func measureInterrupt(ctx context.Context, l *lab, w *wire, r Row) (Row, error) {
	if err := w.reopen(ctx); err != nil {
		return r, err
	}
	return turns{n: l.count(30), warmup: l.count(3), ours: func(ctx context.Context) (float64, error) {
		if err := w.run(ctx, "yes flooding\n", "flooding\r\nflooding\r\n"); err != nil {
			return 0, err
		}
		if err := w.skip(ctx, 4<<20); err != nil { // until every buffer is full
			return 0, err
		}
		began := time.Now()
		err := w.run(ctx, "\x03", "^C")
		took := millis(time.Since(began))
		if err == nil {
			err = w.run(ctx, "echo calm=$((40+2))\n", "calm=42")
		}
		return took, err
	}}.measure(ctx, r)
}

// measureFlood prints 100 MB and says by how much the heap grew at most.
func measureFlood(ctx context.Context, l *lab, w *wire, r Row) (Row, error) {
	return turns{n: l.count(3), ours: func(ctx context.Context) (float64, error) {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		before, most := m.HeapInuse, uint64(0)
		if err := w.say(ctx, "head -c 100000000 /dev/zero | tr '\\0' y; echo end=$((40+2))\n"); err != nil {
			return 0, err
		}
		for range 47 { // the rest is for the words at the end
			if err := w.skip(ctx, 2<<20); err != nil {
				return 0, err
			}
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapInuse)
		}
		err := w.run(ctx, "", "end=42")
		return float64(most-min(most, before)) / (1 << 20), err
	}}.measure(ctx, r)
}

// wire is a browser's connection to a terminal, through the gateway.
type wire struct {
	m      *machine
	site   *site
	cookie *http.Cookie
	ws     *websocket.Conn
	id     choir.ID
	at     uint64
	seen   []byte // of the output, not yet waited for
}

// openWire serves the gateway, logs in and opens a terminal.
func (m *machine) openWire(ctx context.Context) (*wire, error) {
	s, err := m.serve(nil, nil)
	if err != nil {
		return nil, err
	}
	w := &wire{m: m, site: s}
	token, err := m.sys.NewLink()
	if err == nil {
		w.cookie, err = m.sys.Auth().Login(token)
	}
	if err == nil {
		err = w.reopen(ctx)
	}
	if err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

func (w *wire) close() {
	if w.ws != nil {
		w.ws.CloseNow()
	}
	w.site.close()
}

// reopen opens another terminal and waits for its shell.
func (w *wire) reopen(ctx context.Context) error {
	if w.ws != nil {
		w.ws.CloseNow()
		if err := w.m.c.Roles().Terminals().Close(ctx, choir.RoleShell, w.id); err != nil {
			return err
		}
	}
	info, err := w.m.c.Roles().Terminals().Open(ctx, choir.RoleShell, rolehost.NewTerminal{})
	if err != nil {
		return err
	}
	w.id, w.at, w.seen = info.ID, 0, nil
	url := "ws://" + w.site.address + "/api/computers/" + string(w.m.c.ID()) + "/terminals/" + string(w.id) + "/socket"
	w.ws, _, err = websocket.Dial(ctx, url, &websocket.DialOptions{Host: w.site.host, HTTPHeader: http.Header{
		"Origin": {"http://" + w.site.host}, "Cookie": {w.cookie.Name + "=" + w.cookie.Value},
	}})
	if err != nil {
		return choir.Wrap("bench.pty", choir.CodeUnavailable, err, "open the socket of a terminal")
	}
	w.ws.SetReadLimit(1 << 20)
	return w.run(ctx, "", "$ ")
}

func (w *wire) say(ctx context.Context, keys string) error {
	return w.ws.Write(ctx, websocket.MessageBinary, []byte(keys))
}

// run types, when there is something to type, and waits for what is printed.
func (w *wire) run(ctx context.Context, keys, prints string) error {
	if keys != "" {
		if err := w.say(ctx, keys); err != nil {
			return err
		}
	}
	for {
		if i := bytes.Index(w.seen, []byte(prints)); i >= 0 {
			w.seen = w.seen[i+len(prints):]
			return nil
		}
		if n := len(w.seen) - len(prints); n > 0 {
			w.seen = append(w.seen[:0], w.seen[n:]...)
		}
		b, err := w.next(ctx)
		if err != nil {
			return err
		}
		w.seen = append(w.seen, b...)
	}
}

// skip reads so much output.
func (w *wire) skip(ctx context.Context, n int) error {
	for n > 0 {
		b, err := w.next(ctx)
		if err != nil {
			return err
		}
		n -= len(b)
	}
	w.seen = nil
	return nil
}

// next is the next output, which it acknowledges as a browser that keeps up.
func (w *wire) next(ctx context.Context) ([]byte, error) {
	for {
		t, b, err := w.ws.Read(ctx)
		if err != nil {
			return nil, err
		}
		if t == websocket.MessageBinary {
			w.at += uint64(len(b))
			return b, w.ws.Write(ctx, websocket.MessageText, []byte(`{"ack":`+strconv.FormatUint(w.at, 10)+`}`))
		}
		var note api.TerminalNote
		if err := json.Unmarshal(b, &note); err != nil {
			return nil, err
		}
		if note.Output != nil {
			w.at = note.Output.From
		}
		if note.End != nil {
			return nil, io.EOF
		}
	}
}
