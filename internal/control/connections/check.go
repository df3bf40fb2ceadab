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
		return check
	case key.Kind == "none":
		return check.AddDetail(choir.TellSentence("told.noKey", "it needs none"))
	case key.Kind == "variable":
		return check.AddDetail(choir.TellSentence("told.keyInVariable", "is in the variable {name}", choir.LinesOf("name", key.Where)))
	}
	return check.AddDetail(choir.TellSentence("told.keyInFile", "is in {file}, which only you can read", choir.LinesOf("file", key.Where)))
}

// checkAddressOf returns the check whether a service's address accepts connections.
func checkAddressOf(ctx context.Context, p config.Provider) sandbox.Check {
	at := addressOf(p)
	check, address := sandbox.Check{Name: "service " + p.Name}, choir.LinesOf("address", at)
	err := reach(ctx, at)
	if err == nil {
		check.OK = true
		return check.AddDetail(choir.TellSentence("told.service", "{address} can be reached", address))
	}
	return check.AddDetail(choir.TellAround("told.noService", "{address} cannot be reached: {why}", map[string]choir.Told{"why": whyNot(err)}, address)).
		AddRemedy(choir.TellAround("told.startService", "start the service there, or correct its address (base_url in choir.toml, or {place})", map[string]choir.Told{"place": ModelsPlace}))
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
func whyNot(err error) choir.Told {
	var name *net.DNSError
	var op *net.OpError
	switch {
	case errors.As(err, &name) && name.IsNotFound:
		return choir.TellSentence("told.noHost", "there is no host {host}", choir.LinesOf("host", name.Name))
	case choir.CodeOf(err) == choir.CodeTimeout, errors.As(err, &op) && op.Timeout():
		return choir.TellSentence("told.noAnswer", "it did not answer within {time}", choir.LinesOf("time", ReachTimeout))
	case errors.Is(err, syscall.ECONNREFUSED):
		return choir.TellSentence("told.nothingListens", "nothing listens there (connection refused)")
	case errors.As(err, &op):
		return choir.Told{Text: op.Err.Error()}
	}
	return choir.Told{Text: err.Error()}
}
