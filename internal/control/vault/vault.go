// Package vault decides for which requests the keys of the vault may be used, and adds them to
// those. A key leaves it in a request to the host that it is bound to, and nowhere else.
package vault

import (
	"context"
	"iter"
	"net/http"
	"slices"
	"strings"
	"sync"

	"golang.org/x/net/http/httpguts"

	"choiros/internal/choir"
	"choiros/internal/control/egress"
	"choiros/internal/keyring"
	"choiros/internal/leak"
)

// Vault adds keys to requests. Its methods may be called at once.
type Vault struct {
	keys keyring.Vault

	mu       sync.Mutex                 // guards the fields below
	changing map[choir.ID]chan struct{} // by computer; full while one of its changes is in progress
	changes  uint64                     // of the vault so far
	known    map[choir.ID]bindings      // by computer, of entries that are added as headers
	former   map[egress.Target][]string // by host and port, what was sent there of keys that are no more
}

// bindings are the bindings of a computer's entries as of a number of changes.
type bindings struct {
	changes uint64
	all     []choir.VaultBinding
}

// New returns a vault over a keyring; nil for a choir without one, which has no entries.
func New(keys keyring.Vault) *Vault {
	return &Vault{keys: keys, changing: map[choir.ID]chan struct{}{}, known: map[choir.ID]bindings{}, former: map[egress.Target][]string{}}
}

// Computer is the computer that an entry is bound to.
type Computer interface {
	ID() choir.ID
	// Append appends to its log.
	Append(ctx context.Context, role choir.Role, payloads ...choir.Payload) ([]choir.Receipt, error)
	// Head returns the number of the newest event of its log.
	Head() uint64
	// Events reads the events of its log from a number on.
	Events(ctx context.Context, from uint64) iter.Seq2[choir.Event, error]
	// EndKey cuts its requests that have the key of an entry which is no longer that.
	EndKey(name string)
}

// Want is a request to which a key is to be added.
type Want struct {
	Use      choir.VaultUse
	Computer choir.ID
	Project  string // "" for none
	Action   string // for git: fetch or push
	Target   egress.Target
}

// Added is a header with a key.
type Added struct {
	Header, Value string
	Secrets       *leak.Secrets // what of it must not come back
}

// Set binds a key and says so in the computer's log. Requests with a key that it replaces are cut.
// Code invalid: a binding that permits
// nothing, or not only what it says; a key that is too short to be told from other text.
func (v *Vault) Set(ctx context.Context, c Computer, role choir.Role, name, key string, b choir.VaultBinding) (keyring.Entry, error) {
	if v.keys == nil {
		return keyring.Entry{}, errNone
	}
	if err := check(&b); err != nil {
		return keyring.Entry{}, err
	}
	if len(key) < leak.Shortest {
		return keyring.Entry{}, choir.Refuse("vault.put", choir.ReasonVaultKeyShort, choir.CountOf("least", leak.Shortest)).At("key")
	}
	err := v.change(ctx, c, role, name, func(by keyring.Change) error { return v.keys.Set(ctx, name, key, &b, by, of(b.Computer)) })
	if err != nil {
		return keyring.Entry{}, err
	}
	return keyring.Entry{Name: name, SetAt: v.keys.Describe(ctx, name).SetAt, Bound: &b}, nil
}

// errNone refuses what needs a vault.
var errNone = choir.Refuse("vault", choir.ReasonNoVault)

// of returns a function that refuses an entry unless it is bound to the computer. Code conflict:
// it is another computer's, which is not named: that may be another user's.
func of(computer choir.ID) func(keyring.Entry) error {
	return func(e keyring.Entry) error {
		if e.Bound != nil && e.Bound.Computer != computer {
			return choir.Refuse("vault", choir.ReasonVaultBoundElsewhere, choir.TextOf("name", e.Name))
		}
		return nil
	}
}

// List returns the entries of a computer.
func (v *Vault) List(ctx context.Context, computer choir.ID) ([]keyring.Entry, error) {
	if v.keys == nil {
		return nil, nil
	}
	all, err := v.keys.List(ctx)
	return slices.DeleteFunc(all, func(e keyring.Entry) bool { return e.Bound == nil || e.Bound.Computer != computer }), err
}

// Remove deletes an entry of a computer, cuts the requests with its key and says so in the log.
// Code not_found: there is none.
func (v *Vault) Remove(ctx context.Context, c Computer, role choir.Role, name string) error {
	if v.keys == nil {
		return errNone
	}
	return v.change(ctx, c, role, name, func(by keyring.Change) error { return v.keys.Remove(ctx, name, by, of(c.ID())) })
}

// Rotate changes the master key. The keys stay, and so do the requests with them.
func (v *Vault) Rotate(ctx context.Context) error {
	if v.keys == nil {
		return errNone
	}
	return v.keys.Rotate(ctx)
}

// Secrets returns what to look for where no key may be.
func (v *Vault) Secrets(ctx context.Context) (*leak.Secrets, error) {
	if v.keys == nil {
		return leak.New(nil), nil
	}
	keys, err := v.keys.Keys(ctx, nil)
	return leak.New(keys), err
}

// Permits returns nil if an entry is bound to what is wanted.
func (v *Vault) Permits(ctx context.Context, name string, w Want) error {
	_, err := v.Add(ctx, name, w)
	return err
}

// For returns the entry that is bound to a request, the first by name. Code not_found: there is
// none.
func (v *Vault) For(ctx context.Context, w Want) (string, error) {
	name, err := v.Find(ctx, w)
	if err == nil && name == "" {
		err = choir.Refuse("vault", choir.ReasonVaultNoneFor, choir.TextOf("address", w.Target.HostPort()+w.Target.Path))
	}
	return name, err
}

// Find returns the entry that is bound to a request, the first by name; "" for none.
func (v *Vault) Find(ctx context.Context, w Want) (string, error) {
	all, err := v.List(ctx, w.Computer)
	if i := slices.IndexFunc(all, func(e keyring.Entry) bool { return fits(*e.Bound, w) }); err == nil && i >= 0 {
		return all[i].Name, nil
	}
	return "", err
}

// HasHeaderFor reports whether a computer has an entry that is added to requests to a host as a
// header. It reads the vault after a change only; a vault that cannot be read has no entry.
func (v *Vault) HasHeaderFor(computer choir.ID, host string, port int) bool {
	return slices.ContainsFunc(v.headers(computer), func(b choir.VaultBinding) bool { return b.Host == host && b.Port == port })
}

// HeaderHosts returns the hosts and ports to which a computer's entries are added as headers.
func (v *Vault) HeaderHosts(computer choir.ID) (hosts []egress.Target) {
	for _, b := range v.headers(computer) {
		if t := (egress.Target{Host: b.Host, Port: b.Port}); !slices.Contains(hosts, t) {
			hosts = append(hosts, t)
		}
	}
	return hosts
}

// headers returns the bindings of a computer's entries that are added as headers.
func (v *Vault) headers(computer choir.ID) []choir.VaultBinding {
	v.mu.Lock()
	known, ok := v.known[computer]
	now := v.changes
	v.mu.Unlock()
	if ok && known.changes == now {
		return known.all
	}
	entries, err := v.List(context.Background(), computer)
	if err != nil {
		return nil
	}
	known = bindings{changes: now}
	for _, e := range entries {
		if e.Bound.Use == choir.VaultForHeader {
			known.all = append(known.all, *e.Bound)
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.known[computer] = known
	return known.all
}

// noteChange has the bindings be read again.
func (v *Vault) noteChange() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.changes++
}

// Add returns the header with the key of an entry for a request. Code not_found: there is no such
// entry; refused: it is not bound to such a request.
func (v *Vault) Add(ctx context.Context, name string, w Want) (Added, error) {
	if v.keys == nil {
		return Added{}, errNone
	}
	var bound choir.VaultBinding
	key, err := v.keys.Open(ctx, name, func(b choir.VaultBinding) error {
		bound = b
		if !fits(b, w) {
			return choir.Refuse("vault", choir.ReasonCredentialNotForThis, choir.TextOf("name", name), choir.TextOf("address", w.Target.HostPort()+w.Target.Path))
		}
		return nil
	})
	if err != nil {
		return Added{}, err
	}
	a := Added{Header: bound.Header, Value: bound.Prefix + key}
	if bound.Use == choir.VaultForGit {
		a.Header, a.Value = "Authorization", "Basic "+basic(bound, key)
	}
	a.Secrets, err = v.secretsAt(ctx, bound, key)
	return a, err
}

// fits reports whether a binding permits a request.
func fits(b choir.VaultBinding, w Want) bool {
	method := w.Target.Method
	if b.Use == choir.VaultForGit {
		method = w.Action
	}
	return b.Use == w.Use && b.Computer == w.Computer && (b.Project == "" || b.Project == w.Project) &&
		b.Host == w.Target.Host && b.Port == w.Target.Port && (len(b.Methods) == 0 || slices.Contains(b.Methods, method)) &&
		slices.ContainsFunc(b.Paths, func(p string) bool { return egress.Below(w.Target.Path, p) })
}

// framing lists headers that a key is never added as, because others read the message by them.
var framing = []string{"Host", "Content-Length", "Transfer-Encoding", "Connection", "Upgrade", "Te", "Trailer", "Expect", "Content-Encoding"}

// check returns an error unless a binding can be held, and fills in what has a default.
func check(b *choir.VaultBinding) error {
	if b.Port == 0 {
		b.Port = 443
	}
	if len(b.Paths) == 0 {
		b.Paths = []string{"/"}
	}
	t, ok := egress.ReadTarget(b.Host, "/")
	if !ok || t.Host != b.Host {
		return choir.RefuseField("host", choir.ReasonVaultHostRule, choir.TextOf("given", b.Host))
	}
	for _, p := range b.Paths {
		if !egress.CleanPath(p) {
			return choir.RefuseField("paths", choir.ReasonPathRule, choir.TextOf("given", p))
		}
	}
	if b.Use == choir.VaultForGit {
		return checkGit(b)
	}
	b.Header = http.CanonicalHeaderKey(b.Header)
	switch {
	case b.User != "" || b.Project != "":
		return choir.RefuseField("user", choir.ReasonVaultOnlyGit)
	case !httpguts.ValidHeaderFieldName(b.Header) || slices.Contains(framing, b.Header) || strings.HasPrefix(b.Header, "Proxy-"):
		return choir.RefuseField("header", choir.ReasonVaultHeader, choir.TextOf("given", b.Header))
	case !httpguts.ValidHeaderFieldValue(b.Prefix):
		return choir.RefuseField("prefix", choir.ReasonVaultPrefix)
	}
	for _, m := range b.Methods {
		if !httpguts.ValidHeaderFieldName(m) || m != strings.ToUpper(m) || m == http.MethodConnect {
			return choir.RefuseField("methods", choir.ReasonHTTPMethodRule, choir.TextOf("given", m))
		}
	}
	return nil
}

// checkGit returns an error unless a binding for git can be held.
func checkGit(b *choir.VaultBinding) error {
	if b.User == "" {
		b.User = "git"
	}
	switch {
	case b.Header != "" || b.Prefix != "":
		return choir.RefuseField("header", choir.ReasonVaultNotGit)
	case strings.ContainsFunc(b.User, func(r rune) bool { return r <= ' ' || r > '~' || r == ':' }):
		return choir.RefuseField("user", choir.ReasonVaultUser)
	case b.Project != "" && !choir.ValidRepoName(b.Project):
		return choir.Refuse("vault.put", choir.ReasonNotAProjectName, choir.TextOf("name", b.Project)).At("project")
	}
	for _, m := range b.Methods {
		if m != "fetch" && m != "push" {
			return choir.RefuseField("methods", choir.ReasonVaultGitMethods, choir.TextOf("given", m))
		}
	}
	return nil
}
