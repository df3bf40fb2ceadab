package guest

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"choiros/internal/choir"
	"choiros/internal/guest/roledoor"
)

// question returns a DNS question.
func question(t testing.TB, name string, kind dnsmessage.Type) []byte {
	t.Helper()
	m := dnsmessage.Message{Header: dnsmessage.Header{ID: 7, RecursionDesired: true}, Questions: []dnsmessage.Question{{
		Name: dnsmessage.MustNewName(name), Type: kind, Class: dnsmessage.ClassINET,
	}}}
	packed, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	return packed
}

// FuzzQuestion answers whatever a program sends to the port of names, without a control plane.
func FuzzQuestion(f *testing.F) {
	f.Add(question(f, "example.com.", dnsmessage.TypeA))
	f.Add(question(f, "a.example.com.127-1-2-3.mark.choir.internal.", dnsmessage.TypeAAAA))
	f.Add([]byte{})
	n := newNames(NewServer(Config{}))
	ended, end := context.WithCancel(context.Background())
	end()
	f.Fuzz(func(t *testing.T, query []byte) {
		answer := n.answer(ended, query)
		if answer == nil {
			return
		}
		var m dnsmessage.Message
		if err := m.Unpack(answer); err != nil || !m.Response || len(m.Answers) > 0 || m.RCode == dnsmessage.RCodeSuccess {
			t.Fatalf("%x is answered with %+v: %v", query, m, err)
		}
	})
}

// TestNamesAreAnsweredAsTheDoorSays asks for names of a door that knows two, and connects to one.
func TestNamesAreAnsweredAsTheDoorSays(t *testing.T) {
	at := freeUDP(t)
	in := serve(t, func(c *Config) { c.Names = at })
	attached, err := in.Attach(within(t))
	if err != nil {
		t.Fatal(err)
	}
	defer attached.Close()
	door := in.Listen(roledoor.Egress, CallerTool, 4)
	var serving sync.WaitGroup
	defer serving.Wait()
	defer door.Close()
	serving.Go(func() {
		for {
			conn, err := door.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				defer conn.Close()
				r, err := http.ReadRequest(bufio.NewReader(conn))
				if err != nil {
					return
				}
				switch {
				case r.Method == http.MethodConnect && r.RequestURI == "good.test:40123":
					fmt.Fprint(conn, "HTTP/1.1 200 OK\r\n\r\nhello")
				case r.RequestURI == choir.NamesPath+"good.test":
					fmt.Fprint(conn, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{\"ports\":[40123]}")
				default:
					fmt.Fprint(conn, "HTTP/1.1 403 Forbidden\r\n\r\n")
				}
			})
		}
	})
	ask := func(name string, kind dnsmessage.Type) dnsmessage.Message {
		conn, err := net.Dial("udp", at)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := conn.Write(question(t, name, kind)); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 1232)
		size, err := conn.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		var m dnsmessage.Message
		if err := m.Unpack(buf[:size]); err != nil {
			t.Fatal(err)
		}
		return m
	}
	if m := ask("other.test.", dnsmessage.TypeA); m.RCode != dnsmessage.RCodeNameError {
		t.Errorf("a refused name: %+v", m)
	}
	if m := ask("good.test.", dnsmessage.TypeAAAA); m.RCode != dnsmessage.RCodeSuccess || len(m.Answers) != 0 {
		t.Errorf("an address of IPv6: %+v", m)
	}
	m := ask("GOOD.test.", dnsmessage.TypeA)
	if m.RCode != dnsmessage.RCodeSuccess || len(m.Answers) != 1 {
		t.Fatalf("%+v", m)
	}
	addr := netip.AddrFrom4(m.Answers[0].Body.(*dnsmessage.AResource).A)
	if addr.Less(choir.VirtualFirst) || choir.VirtualLast.Less(addr) {
		t.Errorf("it has the address %s", addr)
	}
	conn, err := net.Dial("tcp", netip.AddrPortFrom(addr, 40123).String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	said, err := bufio.NewReader(conn).Peek(5)
	if err != nil || string(said) != "hello" {
		t.Errorf("it says %q: %v", said, err)
	}
	if m := ask("mark.choir.internal.", dnsmessage.TypeA); m.RCode != dnsmessage.RCodeNameError {
		t.Errorf("the domain of marks: %+v", m)
	}
}

// freeUDP returns an address of loopback that nothing listens at.
func freeUDP(t *testing.T) string {
	t.Helper()
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return conn.LocalAddr().String()
}
