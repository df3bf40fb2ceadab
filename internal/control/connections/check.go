package connections

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"syscall"
	"time"

	"choiros/internal/choir"
	"choiros/internal/config"
	"choiros/internal/names"
	"choiros/internal/sandbox"
)

// ReachTimeout is the maximum time for the test whether an address accepts connections.
const ReachTimeout = 3 * time.Second

// Check tests the keys and the addresses of the services in force, without calling a
// model or sending a key. It takes at most ReachTimeout.
func (c *Connections) Check(ctx context.Context) []sandbox.Check {
	n := c.now.Load()
	used := []config.Provider{}
	for _, p := range n.used {
		if !slices.Contains(used, p.provider) {
			used = append(used, p.provider)
		}
	}
	checks := make([][2]sandbox.Check, len(used))
	var all sync.WaitGroup
	for i, p := range used {
		all.Go(func() { checks[i] = [2]sandbox.Check{c.checkKey(p), checkAddressOf(ctx, p)} })
	}
	all.Wait()
	var out []sandbox.Check
	for _, both := range checks {
		out = append(out, both[:]...)
	}
	return out
}

// checkKey returns the check of a service's key.
func (c *Connections) checkKey(p config.Provider) sandbox.Check {
	key := c.cfg.Key(p)
	check := sandbox.Check{Name: "key of " + p.Name, OK: key.Present, Detail: key.Problem, Remedy: key.Remedy}
	switch {
	case !key.Present:
	case key.Kind == "none":
		check.Detail = "it needs none"
	case key.Kind == "variable":
		check.Detail = "is in the variable " + key.Where
	default:
		check.Detail = "is in " + key.Where + ", which only you can read"
	}
	return check
}

// checkAddressOf returns the check whether a service's address accepts connections.
func checkAddressOf(ctx context.Context, p config.Provider) sandbox.Check {
	at := addressOf(p)
	check := sandbox.Check{Name: "service " + p.Name, OK: true, Detail: at + " can be reached"}
	if err := reach(ctx, at); err != nil {
		check.OK, check.Detail = false, at+" cannot be reached: "+whyNot(err)
		check.Remedy = "start the service there, or correct its address (base_url in choir.toml, or " + names.ModelsPlace + ")"
	}
	return check
}

// addressOf returns the base URL of a service, the provider's own if none is configured.
func addressOf(p config.Provider) string {
	switch {
	case p.BaseURL != "":
		return p.BaseURL
	case p.Kind == "anthropic":
		return "https://api.anthropic.com"
	case p.Kind == "bedrock":
		return "https://bedrock-runtime." + p.Region + ".amazonaws.com"
	}
	return "https://api.openai.com"
}

// reach opens and closes a TCP connection to an address, or to the proxy that the
// environment sets for it.
func reach(ctx context.Context, address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return err
	}
	req := &http.Request{URL: u}
	if proxy, err := http.ProxyFromEnvironment(req); err == nil && proxy != nil {
		u = proxy
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443", "socks5": "1080"}[u.Scheme]
	}
	ctx, cancel := context.WithTimeout(ctx, ReachTimeout)
	defer cancel()
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return err
	}
	return conn.Close()
}

// whyNot describes a failed connection in a few words for the owner.
func whyNot(err error) string {
	var name *net.DNSError
	var op *net.OpError
	switch {
	case errors.As(err, &name) && name.IsNotFound:
		return "there is no host " + name.Name
	case choir.CodeOf(err) == choir.CodeTimeout, errors.As(err, &op) && op.Timeout():
		return "it did not answer within " + ReachTimeout.String()
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nothing listens there (connection refused)"
	case errors.As(err, &op):
		return op.Err.Error()
	}
	return err.Error()
}
