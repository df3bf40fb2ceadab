package cluster

import (
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"choiros/internal/choir"
)

const (
	// dialLimit bounds the connection to one server; one that stands still
	// accepts and says nothing.
	dialLimit = time.Second
	// pingEvery and pingsLost find a server that stands still.
	pingEvery = 500 * time.Millisecond
	pingsLost = 2
	// maxCredentials bounds the file of credentials, in bytes.
	maxCredentials = 64 << 10
)

// Config says where the cluster is.
type Config struct {
	// Servers are nats:// or tls:// addresses of the cluster's nodes.
	Servers []string
	// Credentials is a file that its owner alone can read: what `nsc` makes
	// (.creds), or one line user:password. Empty: the cluster asks for none. It
	// is read at each connection, so that it can be changed.
	Credentials string
	// Timeout bounds how long an append waits for the cluster. Default 5 s.
	Timeout time.Duration
	// Log is told when the cluster is lost and found; never of credentials.
	Log func(msg string, args ...any)
}

// connect dials one server after the other. The connection never comes back by
// itself: what it had buffered could then arrive after what was sent meanwhile.
func (c Config) connect(options ...nats.Option) (*nats.Conn, error) {
	if c.Credentials != "" {
		who, err := c.credentials()
		if err != nil {
			return nil, err
		}
		options = append(options, who)
	}
	options = append(options, nats.Name("choir"), nats.NoReconnect(), nats.Timeout(dialLimit),
		nats.PingInterval(pingEvery), nats.MaxPingsOutstanding(pingsLost), nats.IgnoreDiscoveredServers(),
		// Without a handler nats.go prints to standard error.
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	nc, err := nats.Connect(strings.Join(c.Servers, ","), options...)
	return nc, choir.Wrap("cluster.connect", choir.CodeUnavailable, err, "connect to the cluster")
}

func (c Config) credentials() (nats.Option, error) {
	info, err := os.Stat(c.Credentials)
	if err != nil {
		return nil, choir.Wrap("cluster.credentials", choir.CodeUnavailable, err, "read the credentials of the cluster")
	}
	if info.Mode().Perm()&0o077 != 0 || info.Size() > maxCredentials {
		return nil, choir.E("cluster.credentials", choir.CodeRefused, "others can read the credentials of the cluster in %s", c.Credentials).
			WithRemedy("chmod 600 %s", c.Credentials)
	}
	raw, err := os.ReadFile(c.Credentials)
	if err != nil {
		return nil, choir.Wrap("cluster.credentials", choir.CodeUnavailable, err, "read the credentials of the cluster")
	}
	if strings.Contains(string(raw), "BEGIN NATS USER JWT") {
		return nats.UserCredentials(c.Credentials), nil
	}
	user, password, ok := strings.Cut(strings.TrimSpace(string(raw)), ":")
	if !ok || user == "" || strings.ContainsAny(password, "\r\n") {
		return nil, choir.E("cluster.credentials", choir.CodeInvalid, "%s holds neither NATS credentials nor one line user:password", c.Credentials)
	}
	if err := c.mayCarryPassword(); err != nil {
		return nil, err
	}
	return nats.UserInfo(user, password), nil
}

// mayCarryPassword refuses to send a password that anybody on the way could
// read; what .creds holds signs and is not sent.
func (c Config) mayCarryPassword() error {
	for _, s := range c.Servers {
		u, err := url.Parse(s)
		if err != nil {
			return choir.Invalid("bus.cluster", "holds what is no address")
		}
		ip := net.ParseIP(u.Hostname())
		if u.Scheme != "tls" && u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
			return choir.E("cluster.credentials", choir.CodeRefused, "the password would go to %s unencrypted", u.Host).
				WithRemedy("use tls://, or credentials made by nsc")
		}
	}
	return nil
}
