package guest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/snapshot"
)

// FuzzFrames holds: frames that are read are written the same, and a stream
// that is no frames is refused with a path.
func FuzzFrames(f *testing.F) {
	f.Add(appendFrame(appendFrame(nil, frameRequest, []byte(`{"op":"hello"}`)), frameEnd, nil))
	f.Add([]byte{'Q', 0, 0, 0})
	f.Add([]byte{'Q', 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, raw []byte) {
		r := bytes.NewReader(raw)
		var again, buf []byte
		for {
			kind, payload, next, err := readFrame(r, buf)
			buf = next
			if err == io.EOF {
				break
			}
			if err != nil {
				var e *choir.Error
				if !errors.As(err, &e) || e.Path == "" {
					t.Fatalf("refused with %v", err)
				}
				return
			}
			again = appendFrame(again, kind, payload)
		}
		if !bytes.Equal(again, raw) {
			t.Fatal("read and write is not the identity")
		}
	})
}

// FuzzRequest holds: a request that is taken is the same after being sent, and
// one that is refused has a path.
func FuzzRequest(f *testing.F) {
	for _, r := range []request{
		{Op: opHello},
		{Op: opExec, Exec: &ExecSpec{Argv: []string{"a"}, TTY: &Size{1, 2}, TimeoutMS: 5}},
		{Op: opStartRole, Role: &RoleSpec{Name: "choir-director", Credentials: json.RawMessage(`{"a":1}`)}},
		{Op: opRestore, Target: choir.DigestOf(nil), Narrow: true},
	} {
		raw, err := json.Marshal(&r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Add([]byte(`{"op":"hello","more":1}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var r, back request
		if err := choir.DecodeStrict(raw, &r); err != nil {
			var e *choir.Error
			if !errors.As(err, &e) || e.Path == "" {
				t.Fatalf("refused with %v", err)
			}
			return
		}
		first, err := json.Marshal(&r)
		if err != nil {
			t.Fatal(err)
		}
		if err := choir.DecodeStrict(first, &back); err != nil {
			t.Fatalf("%s: %v", first, err)
		}
		if second, err := json.Marshal(&back); err != nil || !bytes.Equal(first, second) {
			t.Fatalf("%s became %s, %v", first, second, err)
		}
	})
}

// FuzzObject holds: an object frame that is taken has a digest and a size that
// fits its content.
func FuzzObject(f *testing.F) {
	f.Add(append(make([]byte, objectHead-1), 3, 'a', 'b', 'c'))
	f.Fuzz(func(t *testing.T, raw []byte) {
		ours, theirs := net.Pipe()
		theirs.Close()
		defer ours.Close()
		o, err := newWire(ours).readObject(raw)
		if err != nil {
			var e *choir.Error
			if !errors.As(err, &e) || e.Path == "" {
				t.Fatalf("refused with %v", err)
			}
			return
		}
		if !o.Digest.Valid() || o.Open == nil && int64(len(o.Content)) != o.Size {
			t.Fatalf("got %+v", o)
		}
	})
}

// hostile is a client whose far end is the given script.
func hostile(t *testing.T, script func(w *wire)) *Client {
	t.Helper()
	ended := make(chan struct{})
	t.Cleanup(func() { <-ended })
	return NewClient(func(context.Context) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go func() {
			defer close(ended)
			defer theirs.Close()
			w := newWire(theirs)
			w.read()
			script(w)
		}()
		return ours, nil
	})
}

func TestAHostileInitIsNotBelieved(t *testing.T) {
	t.Parallel()
	manifest := func(entries ...snapshot.Entry) snapshot.Object {
		raw := (&snapshot.Manifest{Entries: entries}).Encode()
		return snapshot.Object{Digest: choir.DigestOf(raw), Manifest: true, Size: int64(len(raw)), Content: raw}
	}
	root := func(w *wire, d choir.Digest) { w.writeJSON(frameRoot, &scanReply{Root: d}) }
	escape := manifest(snapshot.Entry{Name: "../x", Kind: snapshot.Fifo})
	lie := manifest()
	lie.Digest = choir.DigestOf([]byte("something else"))
	huge := bytes.Repeat([]byte("x"), pushBudget)
	cases := map[string]struct {
		script func(*wire)
		code   choir.Code
	}{
		"closes":           {func(*wire) {}, choir.CodeUnavailable},
		"no root":          {func(w *wire) { w.write(frameEnd, nil) }, choir.CodeInvalid},
		"another frame":    {func(w *wire) { w.write(frameCredit, nil) }, choir.CodeInvalid},
		"a bad root":       {func(w *wire) { w.write(frameRoot, []byte(`{"root":"x"}`)) }, choir.CodeInvalid},
		"an unknown field": {func(w *wire) { w.write(frameRoot, []byte(`{"rood":"x"}`)) }, choir.CodeInvalid},
		"a way out":        {func(w *wire) { w.writeObject(&escape); root(w, escape.Digest); w.read() }, choir.CodeInvalid},
		"a wrong digest":   {func(w *wire) { w.writeObject(&lie); root(w, lie.Digest); w.read() }, choir.CodeCorrupt},
		"a flood": {func(w *wire) {
			for range 3 {
				if w.writeObject(&snapshot.Object{Digest: choir.DigestOf(huge), Size: pushBudget, Content: huge}) != nil {
					return
				}
			}
		}, choir.CodeInvalid},
		"never sends": {func(w *wire) {
			root(w, choir.DigestOf([]byte("none")))
			for {
				if _, _, err := w.read(); err != nil || w.write(frameEnd, nil) != nil {
					return
				}
			}
		}, choir.CodeConflict},
		"a long frame": {func(w *wire) { w.conn.Write([]byte{'S', 0xff, 0xff, 0xff, 0xff}) }, choir.CodeTooLarge},
	}
	for name, c := range cases {
		_, err := hostile(t, c.script).Scan(within(t), newKeeper(t))
		if choir.CodeOf(err) != c.code {
			t.Errorf("%s: got %v, want %s", name, err, c.code)
		}
	}
}

func TestABadRequestIsRefusedWithItsPath(t *testing.T) {
	t.Parallel()
	in := serve(t, nil)
	for raw, path := range map[string]string{
		`{"op":"hello","nope":1}`:                "request.nope",
		`{"op":"fly"}`:                           "request.op",
		`{"op":"exec"}`:                          "request.exec",
		`{"op":"exec","exec":{"argv":[]}}`:       "request.exec.argv",
		`{"op":"restore"}`:                       "request.target",
		`{"op":"restore","target":"z"}`:          "request.target",
		`{"op":"role-start","role":{"name":""}}`: "request.role.name",
		`[]`:                                     "request",
	} {
		conn, err := in.dial(within(t))
		if err != nil {
			t.Fatal(err)
		}
		w := newWire(conn)
		if err := w.write(frameRequest, []byte(raw)); err != nil {
			t.Fatal(err)
		}
		kind, payload, err := w.read()
		if err != nil || kind != frameError {
			t.Fatalf("%s: frame %q, %v", raw, byte(kind), err)
		}
		var p choir.Problem
		if err := choir.DecodeStrict(payload, &p); err != nil || p.Path != path {
			t.Errorf("%s: got %+v, %v, want path %s", raw, p, err, path)
		}
		conn.Close()
	}
}
