package hub

import (
	"crypto/rand"
	"encoding/base32"
	"strings"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"choiros/internal/bus"
	"choiros/internal/choir"
)

// maxSubscriptions limits the subscriptions of one connection.
const maxSubscriptions = 256

// Mint returns credentials for one new connection: a key and a user JWT with the
// permissions of choir.Subjects for this role, user and computer, valid for ttl. The NATS
// server checks the expiry by the machine's clock. Only for control may user and computer
// be empty, which means all. Code invalid: a wrong argument.
func (s *Server) Mint(role choir.Role, user, computer choir.ID, ttl time.Duration) (bus.Credentials, error) {
	bound := role != choir.RoleControl
	switch {
	case role.Source() == "":
		return bus.Credentials{}, choir.Invalid("role", "%q is not a role", role)
	case (bound || user != "") && !user.Valid():
		return bus.Credentials{}, choir.Invalid("user", "must be a UUID in lower case, not %q", user)
	case (bound || computer != "") && !computer.Valid():
		return bus.Credentials{}, choir.Invalid("computer", "must be a UUID in lower case, not %q", computer)
	case ttl <= 0:
		return bus.Credentials{}, choir.Invalid("ttl", "must be longer than nothing, not %s", ttl)
	}
	connection := newConnection()
	var tags []string
	if role == choir.RoleShell || role == choir.RoleDesktop {
		tags = []string{pageTag + string(computer)}
	}
	return s.mint(permissions(choir.Caller{Role: role, User: user, Computer: computer, Connection: connection}), connection, ttl, tags...)
}

// newConnection returns a connection token: 128 random bits in letters and digits.
func newConnection() string {
	var b [16]byte
	rand.Read(b[:]) // never fails, see crypto/rand
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(b[:]))
}

// mint returns credentials with the given permissions, tags and a new key. With ttl 0 they
// do not expire.
func (s *Server) mint(perms jwt.Permissions, connection string, ttl time.Duration, tags ...string) (bus.Credentials, error) {
	seed, pub, err := newUserKey()
	if err != nil {
		return bus.Credentials{}, err
	}
	creds := bus.Credentials{Seed: seed, Connection: connection, Inbox: bus.InboxPrefix(connection)}
	claims := jwt.NewUserClaims(pub)
	claims.Name = connection
	claims.Permissions = perms
	claims.Tags.Add(tags...)
	claims.Limits.NatsLimits = jwt.NatsLimits{Subs: maxSubscriptions, Data: jwt.NoLimit, Payload: bus.MaxPayload}
	if ttl > 0 {
		// A JWT counts in seconds; rounding up keeps a short one from being dead at birth.
		expires := time.Now().Add(ttl + time.Second - 1).Truncate(time.Second)
		claims.Expires, creds.Expires = expires.Unix(), choir.TimeOf(expires)
	}
	creds.JWT, err = claims.Encode(s.keys.account)
	return creds, choir.Wrap("bus.mint", choir.CodeInternal, err, "sign credentials")
}

// newUserKey returns the seed and the public half of a new user key.
func newUserKey() (seed, public string, err error) {
	user, err := nkeys.CreateUser()
	if err != nil {
		return "", "", choir.Wrap("bus.mint", choir.CodeInternal, err, "make a user key")
	}
	defer user.Wipe()
	raw, err := user.Seed()
	if err != nil {
		return "", "", choir.Wrap("bus.mint", choir.CodeInternal, err, "encode a user key")
	}
	public, err = publicKey(user)
	return string(raw), public, err
}
