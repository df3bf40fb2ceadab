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

// maxSubscriptions bounds what one connection may ask the server to match.
const maxSubscriptions = 256

// Mint makes the credentials of one new connection: a key, and a user JWT with
// exactly the permissions of choir.Subjects for this role, user and computer,
// until ttl from now by the clock of the machine, which is the one that the NATS
// server looks at when a connection begins. Only control may leave user and computer empty, which
// means all of them.
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
	return s.mint(permissions(choir.Caller{Role: role, User: user, Computer: computer, Connection: connection}), connection, ttl)
}

// newConnection makes a connection's token: 128 random bits that fit a subject.
func newConnection() string {
	var b [16]byte
	rand.Read(b[:]) // never fails, see crypto/rand
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(b[:]))
}

// mint signs permissions for a fresh key. No ttl means no expiry.
func (s *Server) mint(perms jwt.Permissions, connection string, ttl time.Duration) (bus.Credentials, error) {
	seed, pub, err := newUserKey()
	if err != nil {
		return bus.Credentials{}, err
	}
	creds := bus.Credentials{Seed: seed, Connection: connection, Inbox: bus.InboxPrefix(connection)}
	claims := jwt.NewUserClaims(pub)
	claims.Name = connection
	claims.Permissions = perms
	claims.Limits.NatsLimits = jwt.NatsLimits{Subs: maxSubscriptions, Data: jwt.NoLimit, Payload: MaxPayload}
	if ttl > 0 {
		// A JWT counts in seconds; rounding up keeps a short one from being dead at birth.
		expires := time.Now().Add(ttl + time.Second - 1).Truncate(time.Second)
		claims.Expires, creds.Expires = expires.Unix(), choir.TimeOf(expires)
	}
	creds.JWT, err = claims.Encode(s.keys.account)
	return creds, choir.Wrap("bus.mint", choir.CodeInternal, err, "sign credentials")
}

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
