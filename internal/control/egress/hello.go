package egress

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"syscall"
	"time"
)

// maxHello is the largest ClientHello that is read, in bytes of the stream.
const maxHello = 64 << 10

// encryptedHello is the extension with which a ClientHello hides the name of another server
// (RFC 9849).
const encryptedHello = 0xfe0d

var (
	errNoTLS    = errors.New("the tunnel to port 443 does not begin with TLS")
	errName     = errors.New("the server name of the TLS handshake is not the host of the tunnel")
	errNoName   = errors.New("the TLS handshake names no server")
	errHidden   = errors.New("the TLS handshake hides its server name")
	errHelloHad = errors.New("the ClientHello was read")
	errSilent   = errors.New("the tunnel ended before a byte was sent in it")
)

// readHello reads the ClientHello at the beginning of a stream and returns the bytes it
// took, which are to be sent on. An error: they are not TLS, or name no server, another one
// than host, or a hidden name; it is errSilent if the stream or ctx ended before the first byte,
// as clients do with a spare connection. Nothing is answered to the client.
func readHello(ctx context.Context, conn io.Reader, host string) ([]byte, error) {
	tape := &tape{in: io.LimitReader(conn, maxHello)}
	var hello *tls.ClientHelloInfo
	err := tls.Server(tape, &tls.Config{GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) {
		hello = h
		return nil, errHelloHad
	}}).HandshakeContext(ctx)
	ended := ctx.Err() != nil || errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET)
	switch {
	case ended && tape.had.Len() == 0:
		return nil, errSilent
	case hello == nil && ctx.Err() != nil:
		return nil, errors.Join(errNoTLS, ctx.Err())
	case hello == nil:
		return nil, errors.Join(errNoTLS, err)
	case slices.Contains(hello.Extensions, encryptedHello):
		return nil, errHidden
	case hello.ServerName == "" && !isAddress(host):
		return nil, errNoName
	case hello.ServerName != "" && strings.ToLower(hello.ServerName) != host:
		return nil, errName
	}
	return tape.had.Bytes(), nil
}

// tape is a connection that keeps what is read from it and throws away what is written.
type tape struct {
	in  io.Reader
	had bytes.Buffer
}

func (t *tape) Read(p []byte) (int, error) {
	n, err := t.in.Read(p)
	t.had.Write(p[:n])
	return n, err
}

// The rest of net.Conn, for package tls.
func (t *tape) Write(p []byte) (int, error)      { return len(p), nil }
func (t *tape) Close() error                     { return nil }
func (t *tape) LocalAddr() net.Addr              { return nil }
func (t *tape) RemoteAddr() net.Addr             { return nil }
func (t *tape) SetDeadline(time.Time) error      { return nil }
func (t *tape) SetReadDeadline(time.Time) error  { return nil }
func (t *tape) SetWriteDeadline(time.Time) error { return nil }
