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
	// dialLimit is the time limit of connecting to one server, because a hanging server accepts
	// connections and sends nothing.
	dialLimit = time.Second
	// pingEvery is the interval of pings; after pingsLost unanswered ones the connection is closed.
	pingEvery = 500 * time.Millisecond
	pingsLost = 2
	// maxCredentials limits the size of the credentials' file, in bytes.
	maxCredentials = 64 << 10
)

// Config has the addresses of the cluster and how to connect.
type Config struct {
	// Servers are nats:// or tls:// addresses of the cluster's nodes.
	Servers []string
	// Credentials is the path of a file with mode 600: credentials made by nsc (.creds), or one line
	// user:password. Empty if the cluster needs none. It is read at each connection, so it may change.
	Credentials string
	// Timeout limits how long an append waits for the cluster. Default 5 s.
	Timeout time.Duration
	// Log receives messages about a lost connection; never credentials.
	Log func(msg string, args ...any)
}

// connect connects to one of the servers. The connection does not reconnect, because
// buffered messages could then be sent after later ones.
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

// credentials returns the NATS option for the credentials in the file. Code refused: other users can
// read it, or a password would be sent unencrypted.
func (c Config) credentials() (nats.Option, error) {
	info, err := os.Stat(c.Credentials)
	if err != nil {
		return nil, choir.Wrap("cluster.credentials", choir.CodeUnavailable, err, "read the credentials of the cluster")
	}
	if info.Mode().Perm()&0o077 != 0 || info.Size() > maxCredentials {
		return nil, choir.Refuse("cluster.credentials", choir.ReasonClusterCredentialsOpen, choir.TextOf("path", c.Credentials))
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
		return nil, choir.Refuse("cluster.credentials", choir.ReasonClusterCredentialsForm, choir.TextOf("path", c.Credentials))
	}
	if err := c.mayCarryPassword(); err != nil {
		return nil, err
	}
	return nats.UserInfo(user, password), nil
}

// mayCarryPassword returns an error with code refused if a server would receive the
// password unencrypted over the network. (.creds files only sign.)
func (c Config) mayCarryPassword() error {
	for _, s := range c.Servers {
		u, err := url.Parse(s)
		if err != nil {
			return choir.RefuseField("bus.cluster", choir.ReasonClusterNoAddress)
		}
		ip := net.ParseIP(u.Hostname())
		if u.Scheme != "tls" && u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
			return choir.Refuse("cluster.credentials", choir.ReasonClusterUnencrypted, choir.TextOf("host", u.Host))
		}
	}
	return nil
}
