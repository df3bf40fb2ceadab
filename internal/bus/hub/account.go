package hub

import (
	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"

	"choiros/internal/choir"
)

// trust holds the operator key and the accounts that the NATS server accepts.
type trust struct {
	operator *jwt.OperatorClaims
	resolver *server.MemAccResolver
	system   string
}

// newTrust returns signed accounts: one for all computers, one for the server itself.
func newTrust(k *keyring) (*trust, error) {
	operator, err := publicKey(k.operator)
	if err != nil {
		return nil, err
	}
	t := &trust{resolver: &server.MemAccResolver{}}
	t.operator = jwt.NewOperatorClaims(operator)
	account, err := publicKey(k.account)
	if err != nil {
		return nil, err
	}
	if t.system, err = publicKey(k.system); err != nil {
		return nil, err
	}
	t.operator.SystemAccount = t.system
	choirs := jwt.NewAccountClaims(account)
	choirs.Name = "choir"
	choirs.Limits.JetStreamLimits = jwt.JetStreamLimits{DiskStorage: jwt.NoLimit, Streams: jwt.NoLimit, Consumer: jwt.NoLimit}
	system := jwt.NewAccountClaims(t.system)
	system.Name = "system"
	for _, claims := range []*jwt.AccountClaims{choirs, system} {
		token, err := claims.Encode(k.operator)
		if err == nil {
			err = t.resolver.Store(claims.Subject, token)
		}
		if err != nil {
			return nil, choir.Wrap("bus.start", choir.CodeInternal, err, "sign the account %s", claims.Name)
		}
	}
	return t, nil
}
