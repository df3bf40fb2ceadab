package api

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/coder/websocket"

	"choiros/internal/choir"
	"choiros/internal/computer/terminals"
	"choiros/internal/guest"
)

// TerminalNote is a text frame from the control plane to a browser. Exactly one field is
// set.
type TerminalNote struct {
	// Output precedes the first output, and output that does not continue the bytes sent
	// before.
	Output *TerminalOutput   `json:"output,omitempty"`
	Status *terminals.Status `json:"status,omitempty"`
	Taken  uint64            `json:"taken,omitempty"` // bytes of input that the program took, of all that this socket sent
	End    *terminals.End    `json:"end,omitempty"`   // the terminal has ended; the last frame
	Cut    *Problem          `json:"cut,omitempty"`   // why the socket is closed; the last frame
}

// TerminalOutput is the position of the output bytes that follow.
type TerminalOutput struct {
	From uint64 `json:"from"`           // offset of the next byte
	Lost uint64 `json:"lost,omitempty"` // bytes before it that are no longer stored
	Head uint64 `json:"head"`           // end of the output at the time the socket was opened
}

// TerminalSay is a text frame from a browser. Any fields may be set.
type TerminalSay struct {
	Ack  uint64      `json:"ack,omitempty" choir:"range=0..9007199254740991"` // output is shown up to this offset
	Size *guest.Size `json:"size,omitempty"`                                  // room there is; counts while the browser leads
	Use  bool        `json:"use,omitempty"`                                   // a person uses this terminal here: this browser's size counts
}

// Limits on a terminal's WebSocket.
const (
	maxTerminalFrame = 256 << 10        // bytes of one frame from a browser
	sendPatience     = 15 * time.Second // for a browser that does not take a frame
)

// Close codes of a terminal's WebSocket, besides those of RFC 6455.
const (
	closeEnded   = websocket.StatusCode(4000) // the terminal has ended
	closeCut     = websocket.StatusCode(4001) // the browser may come back with its offset
	closeInvalid = websocket.StatusCode(4002) // the browser broke a rule
)

// terminalSocket serves the WebSocket over which a browser displays a terminal and types
// into it.
func (a *API) terminalSocket(w http.ResponseWriter, r *http.Request) {
	view, after, err := a.attachView(r)
	if err != nil {
		a.refuse(w, r, err)
		return
	}
	defer view.Close()
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		return // Accept has answered
	}
	ws.SetReadLimit(maxTerminalFrame)
	ctx, cancel := context.WithCancel(r.Context())
	s := &terminalSocket{ws: ws, view: view, sent: after}
	var reading sync.WaitGroup
	reading.Go(func() { // ends when the socket is closed
		defer cancel()
		s.read(ctx)
	})
	if code, why := s.write(ctx); code != websocket.StatusNormalClosure {
		// A browser that does not answer the close is not waited for long.
		ws.Close(code, why)
	}
	ws.CloseNow()
	cancel()
	reading.Wait()
}

// attachView returns a view of the terminal of a request, and the offset after which the
// client wants output. Code invalid: the offset is no number.
func (a *API) attachView(r *http.Request) (*terminals.View, uint64, error) {
	ts, _, err := a.findTerminals(r.Context(), choir.ID(r.PathValue("computer")))
	if err != nil {
		return nil, 0, err
	}
	var after uint64
	if text := r.URL.Query().Get("after"); text != "" {
		if after, err = strconv.ParseUint(text, 10, 53); err != nil {
			return nil, 0, choir.RefuseField("query.after", choir.ReasonFieldNoOffset, choir.TextOf("given", text))
		}
	}
	v, err := ts.Attach(choir.ID(r.PathValue("terminal")), after)
	return v, after, err
}

// terminalSocket is one browser's connection to a terminal.
type terminalSocket struct {
	ws   *websocket.Conn
	view *terminals.View
	sent uint64 // offset after the last sent output
}

// write sends the view's updates until the terminal ends or fails. It returns the close
// code and reason for the socket; StatusNormalClosure if the browser or its session is
// gone.
func (s *terminalSocket) write(ctx context.Context) (websocket.StatusCode, string) {
	first := true
	for {
		u, err := s.view.Next(ctx)
		if ctx.Err() != nil {
			return websocket.StatusNormalClosure, ""
		}
		if err != nil {
			// It may not take this either.
			_ = s.sendNote(ctx, TerminalNote{Cut: ProblemOf(err)})
			return closeCut, string(choir.CodeOf(err))
		}
		if err := s.send(ctx, u, first); err != nil {
			return websocket.StatusNormalClosure, ""
		}
		if u.End != nil {
			return closeEnded, string(u.End.Reason)
		}
		first = false
	}
}

// send sends one update as frames: its position if it does not continue the output,
// status, input taken, output, end.
func (s *terminalSocket) send(ctx context.Context, u terminals.Update, first bool) error {
	var notes []TerminalNote
	if first || len(u.Data) > 0 && u.From != s.sent {
		from := s.sent
		if len(u.Data) > 0 {
			from = u.From
		}
		notes = append(notes, TerminalNote{Output: &TerminalOutput{From: from, Lost: u.Lost, Head: s.view.Head()}})
	}
	if u.Status != nil {
		notes = append(notes, TerminalNote{Status: u.Status})
	}
	if u.Taken > 0 {
		notes = append(notes, TerminalNote{Taken: u.Taken})
	}
	for _, n := range notes {
		if err := s.sendNote(ctx, n); err != nil {
			return err
		}
	}
	if len(u.Data) > 0 {
		if err := s.frame(ctx, websocket.MessageBinary, u.Data); err != nil {
			return err
		}
		s.sent = u.From + uint64(len(u.Data))
	}
	if u.End != nil {
		return s.sendNote(ctx, TerminalNote{End: u.End})
	}
	return nil
}

// sendNote sends a text frame.
func (s *terminalSocket) sendNote(ctx context.Context, n TerminalNote) error {
	raw, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return s.frame(ctx, websocket.MessageText, raw)
}

// frame sends a frame, within sendPatience.
func (s *terminalSocket) frame(ctx context.Context, t websocket.MessageType, b []byte) error {
	ctx, cancel := context.WithTimeout(ctx, sendPatience)
	defer cancel()
	return s.ws.Write(ctx, t, b)
}

// read passes input and messages of the browser to the terminal, until the browser is
// gone. A message that breaks a rule closes the socket with closeInvalid.
func (s *terminalSocket) read(ctx context.Context) {
	for {
		t, b, err := s.ws.Read(ctx)
		if err != nil {
			return
		}
		if t == websocket.MessageBinary {
			err = s.view.Type(b)
		} else {
			err = s.handleMessage(b)
		}
		if err != nil {
			s.ws.Close(closeInvalid, string(choir.CodeOf(err)))
			return
		}
	}
}

// handleMessage applies a text frame of the browser: its acknowledgement, size and use
// of the terminal.
func (s *terminalSocket) handleMessage(b []byte) error {
	var say TerminalSay
	if err := choir.DecodeStrict(b, &say); err != nil {
		return err
	}
	if say.Ack > 0 {
		s.view.Ack(say.Ack)
	}
	if say.Use {
		if err := s.view.Use(); err != nil {
			return err
		}
	}
	if say.Size != nil {
		return s.view.Resize(*say.Size)
	}
	return nil
}
