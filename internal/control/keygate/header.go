package keygate

import (
	"context"
	"maps"
	"net/http"

	"choiros/internal/choir"
	"choiros/internal/control/egress"
	"choiros/internal/control/vault"
)

// Injector adds keys of the vault to the requests of a computer's programs that name the host
// itself, whose TLS ends at the proxy for that. It implements egress.Injector.
type Injector struct {
	Computer choir.ID
	Vault    *vault.Vault
}

// Wants implements egress.Injector: a key is added on port 443 only, where TLS is certain.
func (i Injector) Wants(host string, port int) bool {
	return port == 443 && i.Vault.HasHeaderFor(i.Computer, host, port)
}

// Inject implements egress.Injector. A request that no entry is bound to, or that some servers take
// for another one, stays as the program sent it.
func (i Injector) Inject(ctx context.Context, t egress.Target, header http.Header) (egress.Injected, error) {
	if !t.Secure || t.Overridden {
		return egress.Injected{}, nil
	}
	want := vault.Want{Use: choir.VaultForHeader, Computer: i.Computer, Target: t}
	name, err := i.Vault.Find(ctx, want)
	if err != nil || name == "" {
		return egress.Injected{}, err
	}
	added, err := i.Vault.Add(ctx, name, want)
	if err != nil {
		return egress.Injected{}, err
	}
	kept := outgoing(header)
	clear(header)
	maps.Copy(header, kept)
	header.Set(added.Header, added.Value)
	return egress.Injected{Credential: name, Answer: func(a *http.Response) error { return clean(a, added.Secrets, t.HostPort()) }}, nil
}
