package hub

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

// said is what a server sends, and where each message in it ends.
func said(r *rand.Rand, n int) (all []byte, ends []int) {
	for range n {
		body := strings.Repeat("x\r\n", r.IntN(400))
		switch r.IntN(6) {
		case 0:
			all = append(all, "PING\r\n"...)
		case 1:
			all = append(all, "-ERR 'Permissions Violation for Publish to \"MSG a 1 5\"'\r\n"...)
		case 2:
			all = fmt.Appendf(all, "INFO {\"nonce\":%q}\r\n", strings.Repeat("n", r.IntN(5000)))
		case 3:
			all = fmt.Appendf(all, "HMSG a.b 12 _INBOX.x 12 %d\r\nNATS/1.0\r\n\r\n%s\r\n", 12+len(body), body)
		case 4:
			all = fmt.Appendf(all, "MSG a.b 12 _INBOX.x %d\r\n%s\r\n", len(body), body)
		default:
			all = fmt.Appendf(all, "MSG a.b 12 %d\r\n%s\r\n", len(body), body)
		}
		ends = append(ends, len(all))
	}
	return all, ends
}

// inPieces calls take with pieces of all of at most size bytes.
func inPieces(r *rand.Rand, all []byte, size int, take func(piece []byte)) {
	for len(all) > 0 {
		n := min(1+r.IntN(size), len(all))
		take(all[:n])
		all = all[n:]
	}
}

func TestMessagesEndWhereTheyEnd(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		all, ends := said(r, 40)
		var u units
		at, found := 0, 0
		inPieces(r, all, 1+r.IntN(1200), func(piece []byte) {
			if end := u.whole(piece); end > 0 {
				found = at + end
			}
			at += len(piece)
			want := 0
			if i, _ := slices.BinarySearch(ends, at+1); i > 0 {
				want = ends[i-1]
			}
			if found != want {
				t.Fatalf("seed %d: after %d bytes messages end at %d, found %d", seed, at, want, found)
			}
		})
	}
}

// writes keeps each write.
type writes struct{ all [][]byte }

func (w *writes) Write(b []byte) (int, error) {
	w.all = append(w.all, slices.Clone(b))
	return len(b), nil
}

func TestAMessageGoesOnInOneWrite(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server, inside := net.Pipe()
		var got writes
		done := make(chan struct{})
		go func() { defer close(done); carry(&got, inside) }()
		message := "MSG user.a.b 2 727\r\n" + strings.Repeat("e", 727) + "\r\n"
		for _, piece := range []string{message[:512], message[512:], "PI", "NG\r\n", message + "PING\r\n", "MSG user.a.b 2 9\r\ncut"} {
			if _, err := io.WriteString(server, piece); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		server.Close()
		<-done
		want := []string{message, "PING\r\n", message + "PING\r\n", "MSG user.a.b 2 9\r\ncut"}
		if !slices.EqualFunc(got.all, want, func(a []byte, b string) bool { return string(a) == b }) {
			t.Fatalf("got %q", got.all)
		}
	})
}

func TestAllIsCarried(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 2))
		all, _ := said(r, 200)
		all = fmt.Appendf(all, "MSG big 1 %d\r\n%s\r\n", 700_000, strings.Repeat("b", 700_000))
		server, inside := net.Pipe()
		var got writes
		done := make(chan struct{})
		go func() { defer close(done); carry(&got, inside) }()
		inPieces(r, all, 9000, func(piece []byte) { server.Write(piece) })
		server.Close()
		<-done
		if !bytes.Equal(slices.Concat(got.all...), all) {
			t.Fatalf("seed %d: %d bytes became others, or %d", seed, len(all), len(slices.Concat(got.all...)))
		}
		if longest := len(slices.MaxFunc(got.all, func(a, b []byte) int { return len(a) - len(b) })); longest > carryMost {
			t.Errorf("seed %d: %d bytes at once", seed, longest)
		}
	}
}
