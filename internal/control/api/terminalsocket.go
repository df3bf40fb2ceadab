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

// TerminalNote is a text frame to a browser. One field is set.
type TerminalNote struct {
	// Output comes before the first output, and before output that does not follow
	// on what was sent.
	Output *TerminalOutput   `json:"output,omitempty"`
	Status *terminals.Status `json:"status,omitempty"`
	Taken  uint64            `json:"taken,omitempty"` // bytes of input that the program took, of all that this socket sent
	End    *terminals.End    `json:"end,omitempty"`   // the terminal has ended; the last frame
	Cut    *Problem          `json:"cut,omitempty"`   // why the socket is closed; the last frame
}

// TerminalOutput says where the output that follows belongs.
type TerminalOutput struct {
	From uint64 `json:"from"`           // offset of the next byte
	Lost uint64 `json:"lost,omitempty"` // bytes before it that are not kept any more
	Head uint64 `json:"head"`           // what is before this offset was printed before the socket came
}

// TerminalSay is a text frame from a browser. Any fields are set.
type TerminalSay struct {
	Ack  uint64      `json:"ack,omitempty" choir:"range=0..9007199254740991"` // output is shown up to this offset
	Size *guest.Size `json:"size,omitempty"`                                  // room there is; counts while the browser leads
	Use  bool        `json:"use,omitempty"`                                   // somebody turned to the terminal: the browser leads
}

// Bounds of a socket.
const (
	maxTerminalFrame = 256 << 10        // bytes of one frame from a browser
	sendPatience     = 15 * time.Second // for a browser that does not take a frame
)

// Why a socket was closed, besides the codes of RFC 6455.
const (
	closeEnded   = websocket.StatusCode(4000) // the terminal has ended
	closeCut     = websocket.StatusCode(4001) // the browser may come back with its offset
	closeInvalid = websocket.StatusCode(4002) // the browser broke a rule
)

// terminalSocket lets a browser look at a terminal and type.
func (a *API) terminalSocket(w http.ResponseWriter, r *http.Request) {
	view, after, err := a.watched(r)
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

// watched finds what a socket is to show.
func (a *API) watched(r *http.Request) (*terminals.View, uint64, error) {
	ts, _, err := a.enterTerminals(r.Context(), choir.ID(r.PathValue("computer")))
	if err != nil {
		return nil, 0, err
	}
	var after uint64
	if text := r.URL.Query().Get("after"); text != "" {
		if after, err = strconv.ParseUint(text, 10, 53); err != nil {
			return nil, 0, choir.Invalid("query.after", "%q is no offset", text)
		}
	}
	v, err := ts.Attach(choir.ID(r.PathValue("terminal")), after)
	return v, after, err
}

// terminalSocket is one browser's connection to a terminal.
type terminalSocket struct {
	ws   *websocket.Conn
	view *terminals.View
	sent uint64 // offset of what comes next, if it follows on
}

// write sends what there is to show, and says how the socket is to be closed:
// StatusNormalClosure when the browser or its session is gone, or it was told.
func (s *terminalSocket) write(ctx context.Context) (websocket.StatusCode, string) {
	first := true
	for {
		u, err := s.view.Next(ctx)
		if ctx.Err() != nil {
			return websocket.StatusNormalClosure, ""
		}
		if err != nil {
			// It may not take this either.
			_ = s.note(ctx, TerminalNote{Cut: ProblemOf(err)})
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

// send sends one update.
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
		if err := s.note(ctx, n); err != nil {
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
		return s.note(ctx, TerminalNote{End: u.End})
	}
	return nil
}

func (s *terminalSocket) note(ctx context.Context, n TerminalNote) error {
	raw, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return s.frame(ctx, websocket.MessageText, raw)
}

func (s *terminalSocket) frame(ctx context.Context, t websocket.MessageType, b []byte) error {
	ctx, cancel := context.WithTimeout(ctx, sendPatience)
	defer cancel()
	return s.ws.Write(ctx, t, b)
}

// read takes input and what the browser says, until it is gone or breaks a rule;
// then it closes the socket.
func (s *terminalSocket) read(ctx context.Context) {
	for {
		t, b, err := s.ws.Read(ctx)
		if err != nil {
			return
		}
		if t == websocket.MessageBinary {
			err = s.view.Type(b)
		} else {
			err = s.hear(b)
		}
		if err != nil {
			s.ws.Close(closeInvalid, string(choir.CodeOf(err)))
			return
		}
	}
}

func (s *terminalSocket) hear(b []byte) error {
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
