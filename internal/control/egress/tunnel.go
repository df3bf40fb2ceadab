package egress

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"choiros/internal/choir"
)

// tunnelClient is the client's connection of a CONNECT that was answered.
type tunnelClient struct {
	net.Conn
	buffered *bufio.Reader // has what was read of the client already
	outlive  func() bool   // lets the connection outlive its passage's context
}

// Close closes the connection.
func (c *tunnelClient) Close() error {
	c.outlive()
	return c.Conn.Close()
}

// acceptTunnel takes over the connection of a CONNECT and answers it. The connection ends with the
// passage's context; the caller closes it. It is nil when the client is gone.
func (p *Proxy) acceptTunnel(w http.ResponseWriter, one *passage) (*tunnelClient, error) {
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		one.cut("error")
		return nil, choir.Wrap("egress", choir.CodeInternal, err, "take over the connection")
	}
	one.answerable = false
	_ = conn.SetDeadline(time.Now().Add(p.cfg.Limits.Begin))
	client := &tunnelClient{Conn: conn, buffered: buffered.Reader, outlive: context.AfterFunc(one.ctx, func() { conn.Close() })}
	if _, err := io.WriteString(conn, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		one.cut("error")
		client.Close()
		return nil, nil
	}
	return client, nil
}

// tunnel answers a CONNECT and joins the client with the host. On port 443 the client's
// first bytes must be the ClientHello for the target; until then the host gets none.
func (p *Proxy) tunnel(w http.ResponseWriter, one *passage, host net.Conn) error {
	client, err := p.acceptTunnel(w, one)
	if client == nil {
		return err
	}
	defer client.Close()
	first, err := p.firstBytes(one, client)
	if errors.Is(err, errSilent) {
		return nil
	}
	if err != nil {
		one.cut("error")
		return refuse(one.target, choir.EgressTLS, one.mode, choir.ReasonEgressUnclear)
	}
	_ = host.SetWriteDeadline(time.Now().Add(p.cfg.Limits.Begin))
	n, err := host.Write(first)
	one.sent.Add(int64(n))
	if err != nil {
		one.cutFor(err)
		return nil
	}
	_ = client.SetDeadline(time.Time{})
	_ = host.SetWriteDeadline(time.Time{})
	client.outlive()
	one.join(client.Conn, host, p.cfg.Limits)
	return nil
}

// firstBytes returns what the host is sent first: the ClientHello on port 443, elsewhere
// what the server had read of the client already.
func (p *Proxy) firstBytes(one *passage, client *tunnelClient) ([]byte, error) {
	had := make([]byte, client.buffered.Buffered())
	if _, err := io.ReadFull(client.buffered, had); err != nil {
		return nil, err
	}
	if one.target.Port != tlsPort {
		return had, nil
	}
	return readHello(one.ctx, io.MultiReader(bytes.NewReader(had), client), one.target.Host)
}
