package egress

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"time"

	"choiros/internal/choir"
)

// tunnel answers a CONNECT and joins the client with the host. On port 443 the client's
// first bytes must be the ClientHello for the target; until then the host gets none.
func (p *Proxy) tunnel(w http.ResponseWriter, one *passage, host net.Conn) error {
	client, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return choir.Wrap("egress", choir.CodeInternal, err, "take over the connection")
	}
	one.answerable = false
	defer client.Close()
	_ = client.SetDeadline(time.Now().Add(p.cfg.Limits.Begin))
	stop := context.AfterFunc(one.ctx, func() { client.Close() })
	defer stop()
	if _, err := io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return nil // the client is gone
	}
	first, err := p.firstBytes(one, client, buffered.Reader)
	one.passed = true // its name was asked for, and what is refused is not recorded each time
	if err != nil {
		one.cut("error")
		return refuse(one.target, choir.EgressTLS, one.mode, choir.ReasonEgressUnclear)
	}
	_ = host.SetWriteDeadline(time.Now().Add(p.cfg.Limits.Begin))
	n, err := host.Write(first)
	one.sent.Add(int64(n))
	if err != nil {
		one.cut("error")
		return nil
	}
	_ = client.SetDeadline(time.Time{})
	_ = host.SetWriteDeadline(time.Time{})
	stop()
	one.join(client, host, p.cfg.Limits)
	return nil
}

// firstBytes returns what the host is sent first: the ClientHello on port 443, elsewhere
// what the server had read of the client already.
func (p *Proxy) firstBytes(one *passage, client net.Conn, buffered *bufio.Reader) ([]byte, error) {
	had := make([]byte, buffered.Buffered())
	if _, err := io.ReadFull(buffered, had); err != nil {
		return nil, err
	}
	if one.target.Port != tlsPort {
		return had, nil
	}
	return readHello(one.ctx, io.MultiReader(bytes.NewReader(had), client), one.target.Host)
}
