package gateway

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// startBounded serves a handler with room for so many connections.
func startBounded(t *testing.T, most int, h http.Handler) string {
	t.Helper()
	srv := NewServer(h)
	ln := must(net.Listen("tcp", "127.0.0.1:0"))(t)
	served := make(chan error, 1)
	go func() { served <- srv.Serve(bounded(ln, most, writePatience)) }()
	t.Cleanup(func() {
		srv.Close()
		<-served
	})
	return ln.Addr().String()
}

func open(t *testing.T, address, says string) net.Conn {
	t.Helper()
	conn := must(net.Dial("tcp", address))(t)
	t.Cleanup(func() { conn.Close() })
	if _, err := io.WriteString(conn, says); err != nil {
		t.Fatal(err)
	}
	return conn
}

const request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

// answered is what a connection is answered; empty when it is closed.
func answered(t *testing.T, conn net.Conn) string {
	t.Helper()
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return ""
	}
	defer res.Body.Close()
	return string(must(io.ReadAll(res.Body))(t))
}

// TestThoseWhoSayNothingKeepNobodyOut: strangers with more connections than
// there is room for, none of which comes to the end of its header, or asks again.
func TestThoseWhoSayNothingKeepNobodyOut(t *testing.T) {
	address := startBounded(t, 4, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "page") }))
	var strangers []net.Conn
	for range 12 {
		strangers = append(strangers, open(t, address, "GET / HT"))
	}
	for range 12 {
		idle := open(t, address, request)
		if got := answered(t, idle); got != "page" {
			t.Fatalf("the owner is answered %q", got)
		}
		strangers = append(strangers, idle)
	}
	closed := 0
	for _, conn := range strangers[:20] {
		if _, err := conn.Read(make([]byte, 1)); err != nil {
			closed++
		}
	}
	if closed != 20 {
		t.Errorf("%d of 20 connections too many were closed", closed)
	}
}

// TestARequestThatIsServedIsNotCutForANewOne: when all are busy, the newest waits
// for nobody and goes.
func TestARequestThatIsServedIsNotCutForANewOne(t *testing.T) {
	reached, goOn := make(chan struct{}), make(chan struct{})
	address := startBounded(t, 2, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		reached <- struct{}{}
		<-goOn
		fmt.Fprint(w, "page")
	}))
	busy := []net.Conn{open(t, address, request), open(t, address, request)}
	<-reached
	<-reached
	if got := answered(t, open(t, address, "")); got != "" {
		t.Errorf("the third is answered %q", got)
	}
	close(goOn)
	for _, conn := range busy {
		if got := answered(t, conn); got != "page" {
			t.Errorf("a busy one was answered %q", got)
		}
	}
}

// TestAnAnswerThatNobodyTakesEnds, and one that is taken slowly does not.
func TestAnAnswerThatNobodyTakesEnds(t *testing.T) {
	for _, c := range []struct {
		name  string
		pause time.Duration
		ends  bool
	}{{"slowly", writePatience - time.Second, false}, {"not at all", writePatience + time.Second, true}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				near, far := net.Pipe()
				conn := &boundedConn{Conn: near, of: bounded(nil, 1, writePatience).(*boundedListener)}
				answer := []byte(strings.Repeat("x", 10*writePiece))
				ended := make(chan error, 1)
				go func() {
					_, err := conn.Write(answer)
					ended <- err
				}()
				got := 0
				for err := error(nil); err == nil && got < len(answer) && len(ended) == 0; {
					time.Sleep(c.pause) // of the bubble's clock
					synctest.Wait()
					if len(ended) > 0 {
						break
					}
					var n int
					n, err = io.ReadFull(far, make([]byte, writePiece))
					got += n
				}
				err := <-ended
				if (err != nil) != c.ends || !c.ends && got != len(answer) {
					t.Errorf("%d of %d bytes, %v", got, len(answer), err)
				}
				near.Close()
				far.Close()
			})
		})
	}
}
