package vault

import (
	"context"
	"encoding/base64"
	"slices"
	"strconv"

	"choiros/internal/choir"
	"choiros/internal/control/egress"
	"choiros/internal/keyring"
	"choiros/internal/leak"
)

// maxFormer is how many texts of former keys are remembered for a host.
const maxFormer = 32

// basic returns a key of git as it is sent, without the word Basic.
func basic(b choir.VaultBinding, key string) string {
	return base64.StdEncoding.EncodeToString([]byte(b.User + ":" + key))
}

// sent returns the texts of a key that a host may repeat, in an encoding of its own.
func sent(b choir.VaultBinding, key string) []string {
	if b.Use == choir.VaultForGit {
		return []string{key, basic(b, key)}
	}
	return []string{key}
}

// placeOf returns the host and port that an entry is bound to.
func placeOf(b choir.VaultBinding) egress.Target { return egress.Target{Host: b.Host, Port: b.Port} }

// secretsAt returns what a host must not repeat in its answer to a request with a key: this key, those
// of other entries for the host, whosever computer they are bound to, and former ones.
func (v *Vault) secretsAt(ctx context.Context, b choir.VaultBinding, key string) (*leak.Secrets, error) {
	v.mu.Lock()
	texts := append(sent(b, key), v.former[placeOf(b)]...)
	v.mu.Unlock()
	others, err := v.sentTo(ctx, func(e keyring.Entry) bool { return placeOf(*e.Bound) == placeOf(b) })
	for _, of := range others {
		texts = append(texts, of...)
	}
	byName := map[string]string{}
	for i, text := range texts {
		byName[strconv.Itoa(i)] = text
	}
	return leak.New(byName), err
}

// sentTo returns, by the hosts and ports to which they go, the texts of the keys of bound entries that
// wanted accepts.
func (v *Vault) sentTo(ctx context.Context, wanted func(keyring.Entry) bool) (map[egress.Target][]string, error) {
	bound := map[string]choir.VaultBinding{}
	keys, err := v.keys.Keys(ctx, func(e keyring.Entry) bool {
		ok := e.Bound != nil && wanted(e)
		if ok {
			bound[e.Name] = *e.Bound
		}
		return ok
	})
	out := map[egress.Target][]string{}
	for name, key := range keys {
		place := placeOf(bound[name])
		out[place] = append(out[place], sent(bound[name], key)...)
	}
	return out, err
}

// rememberFormer remembers, until choir ends, the key of an entry that is about to be changed: its host
// has been sent it, and the service may still accept it.
func (v *Vault) rememberFormer(ctx context.Context, computer choir.ID, name string) error {
	former, err := v.sentTo(ctx, func(e keyring.Entry) bool { return e.Name == name && e.Bound.Computer == computer })
	v.mu.Lock()
	defer v.mu.Unlock()
	for place, texts := range former {
		all := append(slices.DeleteFunc(v.former[place], func(t string) bool { return slices.Contains(texts, t) }), texts...)
		v.former[place] = all[max(0, len(all)-maxFormer):]
	}
	return err
}
