package egress

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// reading is what another program reads of a request. Name, Port, Path and User are those of
// its address; they are empty if the program refuses the address.
type reading struct {
	Method, URL, Host      string
	Body                   int // -1 for unknown
	Name, Port, Path, User string
}

// reader is a child process that reads requests as a server of its language does.
type reader struct {
	name string
	mu   sync.Mutex // guards the pipes: one question at a time
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
}

// readers starts the other parsers once for each process of the tests: Node's (llhttp, and the
// URL standard of browsers), and Python's. One that is not on this machine is left out.
var readers = sync.OnceValue(func() (all []*reader) {
	for _, argv := range [][]string{{"node", "testdata/reader.mjs"}, {"python3", "testdata/reader.py"}} {
		r := &reader{name: argv[0], cmd: exec.Command(argv[0], argv[1:]...)}
		r.cmd.Stderr = os.Stderr
		var err error
		if r.in, err = r.cmd.StdinPipe(); err != nil {
			panic(err)
		}
		out, err := r.cmd.StdoutPipe()
		if err != nil {
			panic(err)
		}
		r.out = bufio.NewReader(out)
		if r.cmd.Start() == nil {
			all = append(all, r)
		}
	}
	begun = all
	return all
})

// begun are the readers that were started.
var begun []*reader

// endReaders ends the other parsers, if they were started.
func endReaders() {
	for _, r := range begun {
		r.in.Close()
		_ = r.cmd.Wait() // it ends with its input, in whatever way
	}
}

// read returns the requests that the program reads in data.
func (r *reader) read(t testing.TB, data []byte) (all []reading) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, err := io.WriteString(r.in, base64.StdEncoding.EncodeToString(data)+"\n"); err != nil {
		t.Fatalf("%s: %v", r.name, err)
	}
	line, err := r.out.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &all)
	}
	if err != nil {
		t.Fatalf("%s answers %q: %v", r.name, line, err)
	}
	return all
}

// FuzzReadersAgree holds the proxy's reading of each request that it lets through against those of
// other servers, of what the client sent and of what the proxy writes to the host. Another
// program may refuse a request; it may not take it for another one.
func FuzzReadersAgree(f *testing.F) {
	if len(readers()) < 2 {
		f.Skip("node and python3, which read requests beside the proxy, are not both on this machine")
	}
	for _, other := range readers() { // they have started before an input is timed
		if all := other.read(f, []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n")); len(all) != 1 || all[0].Method != "GET" {
			f.Fatalf("%s reads %+v", other.name, all)
		}
	}
	for _, c := range tricks() {
		f.Add([]byte(c.raw))
		f.Add([]byte(c.plain))
	}
	for _, raw := range odd {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(raw)))
		if err != nil {
			return
		}
		defer r.Body.Close()
		target, ok := readTarget(r)
		if !ok {
			return
		}
		var wire bytes.Buffer
		var wanted reading
		if !target.Tunnel {
			wanted = written(t, r, target, &wire)
		}
		for _, other := range readers() {
			if all := other.read(t, raw); len(all) > 0 {
				agreesOnAddress(t, other.name, all[0], target)
			}
			if wire.Len() == 0 {
				continue
			}
			all := other.read(t, wire.Bytes())
			if len(all) > 1 {
				t.Errorf("%s reads %d requests in %q", other.name, len(all), wire.String())
			}
			if len(all) == 0 {
				continue // it refuses what it is sent
			}
			got := reading{Method: all[0].Method, URL: all[0].URL, Host: all[0].Host, Body: all[0].Body}
			if got.Body < 0 {
				got.Body = wanted.Body
			}
			if !cleanPath(target.Path) { // no rule with paths lets it out, whatever a server makes of it
				got.URL = wanted.URL
			}
			if got != wanted {
				t.Errorf("%s reads %+v in %q, the policy saw %+v", other.name, got, wire.String(), wanted)
			}
		}
	})
}

// written writes the request as it goes to the host, and returns what is to be read in it. The
// wire stays empty for a request whose body breaks off.
func written(t *testing.T, r *http.Request, target Target, wire *bytes.Buffer) reading {
	t.Helper()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return reading{}
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	out := outgoing(r, &passage{target: target, ctx: t.Context()})
	if err := out.Write(wire); err != nil {
		wire.Reset()
	}
	return reading{Method: target.Method, URL: out.URL.RequestURI(), Host: strings.TrimSuffix(target.HostPort(), ":80"), Body: len(body)}
}

// agreesOnAddress demands that another program takes a request for the same target, if it takes
// it for one at all.
func agreesOnAddress(t *testing.T, who string, got reading, target Target) {
	t.Helper()
	method := target.Method
	if target.Tunnel {
		method = http.MethodConnect
	}
	if got.Method != method {
		t.Errorf("%s reads the method %q, the policy saw %q", who, got.Method, method)
	}
	if got.Name == "" {
		return
	}
	name := strings.Trim(got.Name, "[]")
	if a, err := netip.ParseAddr(name); err == nil {
		name = a.String()
	}
	if name != target.Host || got.Port != strconv.Itoa(target.Port) || got.User != "" {
		t.Errorf("%s takes %q for %s port %s, the policy saw %s", who, got.URL, got.Name, got.Port, target.HostPort())
	}
	if !target.Tunnel && cleanPath(target.Path) && got.Path != target.Path {
		t.Errorf("%s takes %q for the path %q, the policy saw %q", who, got.URL, got.Path, target.Path)
	}
}

// odd are requests with what parsers of HTTP were found to read differently.
var odd = []string{
	"GET http://good.test?x HTTP/1.1\r\nHost: good.test\r\n\r\n",
	"GET http://good.test:80/a/../b HTTP/1.1\r\nHost: good.test:80\r\n\r\n",
	"GET http://good.test/a//b/./c HTTP/1.1\r\nHost: good.test\r\n\r\n",
	"GET http://good.test/%2e%2e/%61 HTTP/1.1\r\nHost: good.test\r\n\r\n",
	"GET HTTP://GOOD.test/ HTTP/1.0\r\n\r\n",
	"GET http://[2001:db8::0:1]:8080/ HTTP/1.1\r\nHost: x\r\n\r\n",
	"GET http://192.0.2.1/ HTTP/1.1\r\nHost: 192.0.2.1\r\n\r\n",
	"POST http://good.test/ HTTP/1.1\r\nHost: good.test\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n0\r\nTrailer: x\r\n\r\n",
	"POST http://good.test/ HTTP/1.1\r\nHost: good.test\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
	"POST http://good.test/ HTTP/1.1\r\nHost: good.test\r\nContent-Length: 3\r\n\r\nabcGET /x HTTP/1.1\r\n\r\n",
	"GET http://good.test/ HTTP/1.1\r\nHost: good.test\r\nConnection: close, X-A, Content-Length\r\nX-A: b\r\nContent-Length: 1\r\n\r\na",
	"M-SEARCH http://good.test/* HTTP/1.1\r\nHost: good.test\r\nUpgrade: h2c\r\nExpect: 100-continue\r\n\r\n",
	"GET\thttp://good.test/ HTTP/1.1\r\nHost: good.test\r\n\r\n",
	"GET http://good.test//a HTTP/1.1\r\nHost: good.test\r\n\r\n",
	"\r\nGET http://good.test/ HTTP/1.1\r\nHost: good.test\r\n\r\n",
	"CONNECT GOOD.test:443 HTTP/1.1\r\nHost: other.test\r\n\r\nhello",
	"POST http://good.test/ HTTP/1.1\r\nContent-Length:3\r\n\r\n000GET *\n\r\n",
	"POST http://good.test/ HTTP/1.1\r\nHost: good.test\r\nExpect: x\r\nContent-Length:3\r\n\r\n000GET / HTTP/1.1\r\nHost: x\r\n\r\n",
	"GET http://good.test// HTTP/1.1\r\nHost: good.test\r\n\r\n",
	"CONNECT [2001:DB8::1]:22 HTTP/1.1\r\nHost: x\r\n\r\n",
}
