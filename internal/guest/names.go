package guest

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/netip"
	"net/textproto"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"choiros/internal/choir"
	"choiros/internal/guest/roledoor"
)

// maxLookups bounds the questions that are answered at once; programs repeat the others.
const maxLookups = 64

// lookupPatience is the time that the control plane has to decide about a name.
const lookupPatience = 10 * time.Second

// answerSeconds is how long a program may remember an answer.
const answerSeconds = 5

// markMemory is how long a question without a mark counts as its program's that asked for the same
// name with one: resolvers ask for the bare name after the one with the search domain.
const markMemory = 10 * time.Second

// names answers the DNS questions of programs in the sandbox: a name that the policy lets out gets
// a virtual address on loopback, every other one does not exist.
type names struct {
	s       *Server
	virtual *virtual
	conns   chan *net.UDPConn // what open gives to run; one at most

	mu     sync.Mutex // guards the fields below; held for no call
	opened bool
	asked  map[string]askedAs // the marks of names lately refused
}

type askedAs struct {
	at   netip.Addr
	when time.Time
}

func newNames(s *Server) *names {
	return &names{s: s, virtual: newVirtual(s), conns: make(chan *net.UDPConn, 1), asked: map[string]askedAs{}}
}

// open listens at an address, unless it does. It cannot where the port is privileged; then names
// do not resolve, and the next attachment tries again.
func (n *names) open(address string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.opened || address == "" {
		return nil
	}
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	conn, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(at))
	if err == nil {
		n.opened = true
		n.conns <- conn
	}
	return err
}

// run answers questions, once the address is open, until ctx ends.
func (n *names) run(ctx context.Context) {
	select {
	case conn := <-n.conns:
		stop := context.AfterFunc(ctx, func() { conn.Close(); n.virtual.close() })
		defer stop()
		n.serve(ctx, conn)
	case <-ctx.Done():
		n.mu.Lock()
		defer n.mu.Unlock()
		n.opened = true // none after this
		select {
		case conn := <-n.conns:
			conn.Close()
		default:
		}
	}
}

// serve answers until the connection is closed.
func (n *names) serve(ctx context.Context, conn *net.UDPConn) {
	places := make(chan struct{}, maxLookups)
	var all sync.WaitGroup
	defer all.Wait()
	buf := make([]byte, 1232)
	for {
		size, from, err := conn.ReadFromUDPAddrPort(buf)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			continue // a program that did not wait for its answer
		}
		query := append([]byte(nil), buf[:size]...)
		select {
		case places <- struct{}{}:
		default:
			continue
		}
		all.Go(func() {
			defer func() { <-places }()
			if answer := n.answer(ctx, query); answer != nil {
				_, _ = conn.WriteToUDPAddrPort(answer, from) // a program that is gone needs none
			}
		})
	}
}

// answer returns the answer to a question; nil for what is none.
func (n *names) answer(ctx context.Context, query []byte) []byte {
	var p dnsmessage.Parser
	h, err := p.Start(query)
	if err != nil || h.Response {
		return nil
	}
	q, err := p.Question()
	if err != nil {
		return nil
	}
	reply := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: h.ID, Response: true, OpCode: h.OpCode, RecursionDesired: h.RecursionDesired, RecursionAvailable: true},
		Questions: []dnsmessage.Question{q},
	}
	if h.OpCode != 0 || q.Class != dnsmessage.ClassINET {
		reply.RCode = dnsmessage.RCodeNotImplemented
	} else if at, code := n.lookup(ctx, q.Name.String()); code != dnsmessage.RCodeSuccess {
		reply.RCode = code
	} else if q.Type == dnsmessage.TypeA {
		reply.Answers = []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: answerSeconds}, Body: &dnsmessage.AResource{A: at.As4()},
		}}
	}
	packed, err := reply.Pack()
	if err != nil {
		return nil
	}
	return packed
}

// lookup returns the virtual address of a name as it was asked for.
func (n *names) lookup(ctx context.Context, asked string) (netip.Addr, dnsmessage.RCode) {
	name, at := choir.CutSearchDomain(strings.ToLower(strings.TrimSuffix(asked, ".")))
	if strings.HasSuffix("."+name, ".choir.internal") {
		return netip.Addr{}, dnsmessage.RCodeNameError
	}
	at = n.markOf(name, at)
	ports, code := n.ask(ctx, name, at)
	if code != dnsmessage.RCodeSuccess {
		return netip.Addr{}, code
	}
	addr, err := n.virtual.address(ctx, name, at, ports)
	if err != nil {
		return netip.Addr{}, dnsmessage.RCodeServerFailure
	}
	return addr, code
}

// markOf returns the mark of a question: its own, or that of the last one for the same name.
func (n *names) markOf(name string, at netip.Addr) netip.Addr {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := time.Now()
	if !at.IsValid() {
		if last := n.asked[name]; now.Sub(last.when) < markMemory {
			return last.at
		}
		return at
	}
	if len(n.asked) >= maxNames {
		clear(n.asked)
	}
	n.asked[name] = askedAs{at, now}
	return at
}

// ask asks the control plane at which ports a name may be reached. The refusal of a name is
// recorded there.
func (n *names) ask(ctx context.Context, name string, at netip.Addr) ([]int, dnsmessage.RCode) {
	if !plainName(name) {
		return nil, dnsmessage.RCodeNameError
	}
	ctx, cancel := context.WithTimeout(ctx, lookupPatience)
	defer cancel()
	status, body, err := n.s.askDoor(ctx, at, "GET "+choir.NamesPath+name+" HTTP/1.1\r\nHost: choir\r\nConnection: close\r\n\r\n")
	var answer choir.NameAnswer
	switch {
	case err == nil && status == "403":
		return nil, dnsmessage.RCodeNameError
	case err != nil || status != "200" || json.Unmarshal(body, &answer) != nil:
		return nil, dnsmessage.RCodeServerFailure
	}
	return answer.Ports, dnsmessage.RCodeSuccess
}

// plainName reports whether a name can stand in a request line as it is.
func plainName(name string) bool {
	return name != "" && len(name) <= 253 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.") == ""
}

// maxAnswer bounds an answer of the egress door to init itself.
const maxAnswer = 16 << 10

// askDoor sends a request to the egress door for a mark, invalid for none, and returns the
// status and body of the answer.
func (s *Server) askDoor(ctx context.Context, at netip.Addr, request string) (status string, body []byte, err error) {
	o, err := s.connect(ctx, streamKind{roledoor.Egress, CallerTool}, beginsAt(at), nil)
	if err != nil {
		return "", nil, err
	}
	defer close(o.over)
	defer o.w.conn.Close()
	stop := context.AfterFunc(ctx, func() { o.w.conn.Close() })
	defer stop()
	if _, err := io.WriteString(o.w.conn, request); err != nil {
		return "", nil, err
	}
	in := bufio.NewReader(io.LimitReader(o.w.bare(), maxAnswer))
	if status, err = readStatus(in); err != nil {
		return "", nil, err
	}
	body, err = io.ReadAll(in)
	return status, body, err
}

// readStatus reads the head of an HTTP answer and returns its status, three digits.
func readStatus(in *bufio.Reader) (string, error) {
	head := textproto.NewReader(in)
	line, err := head.ReadLine()
	if err != nil {
		return "", err
	}
	if _, err := head.ReadMIMEHeader(); err != nil {
		return "", err
	}
	_, rest, _ := strings.Cut(line, " ")
	status, _, _ := strings.Cut(rest, " ")
	return status, nil
}

// beginsAt says that a stream belongs to a mark's address; to none if it is not valid.
func beginsAt(at netip.Addr) streamBegins {
	if !at.IsValid() {
		return streamBegins{}
	}
	return streamBegins{At: at.String()}
}
