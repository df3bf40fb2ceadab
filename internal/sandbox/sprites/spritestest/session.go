package spritestest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/coder/websocket"
	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"choiros/internal/inherited"
)

// The first byte of a message without a terminal.
const (
	streamInput    = 0
	streamOutput   = 1
	streamError    = 2
	streamExit     = 3
	streamInputEnd = 4
)

// session is a program of a sprite, which outlives its connection for a while.
type session struct {
	id      string
	machine *machine
	argv    []string
	cmd     *exec.Cmd
	tty     *os.File // nil without a terminal
	stdin   io.WriteCloser
	began   time.Time
	linger  time.Duration // after the connection is cut; 0 for ever
	ended   chan struct{}

	mu   sync.Mutex // guards conn, and is held while a message is sent
	conn *websocket.Conn
}

// defaultEnv is the environment of programs that are given none.
var defaultEnv = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "USER=root", "LANG=C.UTF-8"}

// exec runs a program over a WebSocket, or lists the running ones for a plain request.
func (s *Server) exec(w http.ResponseWriter, r *http.Request, m *machine) {
	if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		m.listSessions(w)
		return
	}
	session, err := m.newSession(r)
	if err != nil {
		refuse(w, http.StatusBadRequest, "invalid", err.Error())
		return
	}
	s.ended.Add(1)
	defer s.ended.Done()
	m.add(session) // before the client knows of it, so that its connection can be cut from then on
	session.mu.Lock()
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	session.conn = conn
	session.mu.Unlock()
	if err != nil {
		m.drop(session)
		return // it has answered
	}
	if err := session.start(); err != nil {
		m.drop(session)
		session.send(streamError, []byte(err.Error()+"\n"))
		session.sendExit(127)
		conn.Close(websocket.StatusNormalClosure, "")
		return
	}
	s.ended.Go(session.reportExit)
	session.serve(r.Context(), conn)
}

// newSession reads a program from the request.
func (m *machine) newSession(r *http.Request) (*session, error) {
	query := r.URL.Query()
	argv := query["cmd"]
	if len(argv) == 0 {
		return nil, errors.New("there is no cmd")
	}
	env := defaultEnv
	if given := query["env"]; len(given) > 0 {
		env = append([]string{defaultEnv[0]}, given...)
	}
	s := &session{machine: m, argv: argv, began: time.Now(), ended: make(chan struct{})}
	isTTY := query.Get("tty") == "true"
	left := query.Get("max_run_after_disconnect")
	switch {
	case left == "" && !isTTY:
		s.linger = 10 * time.Second
	case left != "" && left != "0":
		var err error
		if s.linger, err = time.ParseDuration(left); err != nil {
			return nil, err
		}
	}
	s.cmd = m.command(argv, env, cmp.Or(query.Get("dir"), "/"))
	if isTTY {
		rows, _ := strconv.Atoi(query.Get("rows")) // none is the default
		cols, _ := strconv.Atoi(query.Get("cols"))
		return s, s.openTerminal(cmp.Or(rows, 24), cmp.Or(cols, 80))
	}
	s.cmd.Stdout, s.cmd.Stderr = stream{s, streamOutput}, stream{s, streamError}
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	// A program that is left in the background may hold the output open.
	s.cmd.WaitDelay = 100 * time.Millisecond
	if query.Get("stdin") != "true" {
		return s, nil
	}
	var err error
	s.stdin, err = s.cmd.StdinPipe()
	return s, err
}

func (s *session) openTerminal(rows, cols int) error {
	ours, theirs, err := pty.Open()
	if err != nil {
		return err
	}
	s.tty, s.stdin = ours, ours
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = theirs, theirs, theirs
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	return pty.Setsize(ours, &pty.Winsize{Rows: uint16(rows), Cols: uint16(cols)})
}

func (s *session) start() error {
	// A machine far away has no open file of its client's.
	err := inherited.KeepFromChildren()
	if err == nil {
		err = s.cmd.Start()
	}
	if s.tty != nil {
		s.cmd.Stdin.(*os.File).Close()
		if err != nil {
			s.tty.Close()
		}
	}
	return err
}

// stream sends what a program writes.
type stream struct {
	session *session
	id      byte
}

// Write implements io.Writer. Nothing is kept for a client that is not there.
func (w stream) Write(p []byte) (int, error) {
	w.session.send(w.id, p)
	return len(p), nil
}

// send sends a message to the client, if there is one.
func (s *session) send(id byte, content []byte) {
	message := content
	if s.tty == nil {
		message = append([]byte{id}, content...)
	}
	s.write(websocket.MessageBinary, message)
}

func (s *session) write(kind websocket.MessageType, message []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn == nil {
		return
	}
	if err := s.conn.Write(context.Background(), kind, message); err != nil {
		s.conn = nil
	}
}

func (s *session) sendExit(code int) {
	if s.tty != nil {
		s.sendJSON(message{Type: "exit", Code: &code})
		return
	}
	s.send(streamExit, []byte{byte(code)})
}

// sendJSON sends a message in JSON.
func (s *session) sendJSON(m message) {
	raw, err := json.Marshal(m)
	if err != nil {
		panic(err) // texts and numbers always encode
	}
	s.write(websocket.MessageText, raw)
}

// reportExit waits for the end of the program and sends its exit code.
func (s *session) reportExit() {
	if s.tty != nil {
		buf := make([]byte, 32<<10)
		for {
			n, err := s.tty.Read(buf)
			if n > 0 {
				s.send(streamOutput, buf[:n])
			}
			if err != nil {
				break // the program has closed its end
			}
		}
	}
	s.cmd.Wait() // the state says how it ended
	code := s.cmd.ProcessState.ExitCode()
	if status, ok := s.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		code = 128 + int(status.Signal())
	}
	s.sendExit(code)
	close(s.ended)
	s.machine.drop(s)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != nil {
		if code == 0 || s.tty == nil {
			s.conn.Close(websocket.StatusNormalClosure, "")
		} else {
			s.conn.Close(websocket.StatusInternalError, "")
		}
	}
}

// serve passes on what the client sends, until its connection ends. The program then goes
// on for a while.
func (s *session) serve(ctx context.Context, conn *websocket.Conn) {
	conn.SetReadLimit(4 << 20)
	for {
		kind, message, err := conn.Read(ctx)
		if err != nil {
			break
		}
		switch {
		case kind == websocket.MessageText:
			s.control(message)
		case s.stdin == nil || len(message) == 0:
		case s.tty != nil:
			s.stdin.Write(message) // the program may have ended
		case message[0] == streamInput:
			s.stdin.Write(message[1:])
		case message[0] == streamInputEnd:
			s.stdin.Close()
		}
	}
	conn.CloseNow()
	s.mu.Lock()
	if s.conn == conn {
		s.conn = nil
	}
	s.mu.Unlock()
	if s.linger > 0 {
		s.lingerOn()
	}
}

// lingerOn ends the program when nobody came for it.
func (s *session) lingerOn() {
	select {
	case <-s.ended:
	case <-time.After(s.linger):
		s.mu.Lock()
		alone := s.conn == nil
		s.mu.Unlock()
		if alone {
			s.signal(syscall.SIGKILL)
		}
	}
}

// control handles a message in JSON.
func (s *session) control(message []byte) {
	var c struct {
		Type   string `json:"type"`
		Cols   uint16 `json:"cols"`
		Rows   uint16 `json:"rows"`
		Signal string `json:"signal"`
	}
	if json.Unmarshal(message, &c) != nil {
		return
	}
	switch {
	case c.Type == "resize" && s.tty != nil:
		pty.Setsize(s.tty, &pty.Winsize{Rows: c.Rows, Cols: c.Cols}) // it may have ended
	case c.Type == "signal":
		name := "SIG" + strings.TrimPrefix(c.Signal, "SIG")
		s.signal(unix.SignalNum(name))
	}
}

// signal sends a signal to the program and its children; nsenter is among them.
func (s *session) signal(n syscall.Signal) {
	if n != 0 {
		syscall.Kill(-s.cmd.Process.Pid, n) // they may have ended
	}
}

// cut breaks the connection.
func (s *session) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != nil {
		s.conn.CloseNow()
		s.conn = nil
	}
}

func (m *machine) add(s *session) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last++
	s.id = strconv.Itoa(m.last)
	m.sessions[s.id] = s
}

// sendInfo sends what a client learns of its session first.
func (s *session) sendInfo() {
	tty := s.tty != nil
	s.sendJSON(message{Type: "session_info", Session: s.id, Command: strings.Join(s.argv, " "), TTY: &tty})
}

func (m *machine) drop(s *session) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.sessions, s.id)
}

func (m *machine) listSessions(w http.ResponseWriter) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := []sessionInfo{}
	for id, s := range m.sessions {
		all = append(all, sessionInfo{ID: id, Command: strings.Join(s.argv, " "), Folder: "/", Created: s.began, Active: true, TTY: s.tty != nil})
	}
	answer(w, http.StatusOK, sessionList{all})
}

// attach gives a session the connection of a new client.
func attach(w http.ResponseWriter, r *http.Request, m *machine) {
	m.mu.Lock()
	s := m.sessions[r.PathValue("session")]
	m.mu.Unlock()
	if s == nil {
		refuse(w, http.StatusNotFound, "not_found", "session not found")
		return
	}
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return // it has answered
	}
	s.cut()
	s.mu.Lock()
	s.conn = conn
	s.mu.Unlock()
	s.sendInfo()
	s.serve(r.Context(), conn)
}
