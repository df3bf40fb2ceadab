package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"choiros/internal/choir"
	"choiros/internal/keyring"
)

// Vault binds keys to what programs of a computer may use them for. It never gives a key back.
type Vault interface {
	Set(ctx context.Context, role choir.Role, name, key string, bound choir.VaultBinding) (keyring.Entry, error)
	List(ctx context.Context) ([]keyring.Entry, error)
	Remove(ctx context.Context, role choir.Role, name string) error
}

// VaultEntry is an entry of the vault, without its key.
type VaultEntry struct {
	Name  string             `json:"name"`
	SetAt choir.Time         `json:"set_at,omitzero"`
	Bound choir.VaultBinding `json:"bound" doc:"For what it may be used."`
}

// VaultRequest is the request to keep a key and to bind it.
type VaultRequest struct {
	Key     string   `json:"key" maxLength:"8192" doc:"The key. It is kept encrypted and never given back."`
	Use     string   `json:"use" enum:"git,header" doc:"git: the password of git's requests; header: a header of any request."`
	Host    string   `json:"host" minLength:"1" maxLength:"300" doc:"The host, exactly."`
	Port    int      `json:"port,omitempty" minimum:"1" maximum:"65535" doc:"443 when nothing is said."`
	Paths   []string `json:"paths,omitempty" maxItems:"32" doc:"Paths at and below which it is used; all when nothing is said."`
	Methods []string `json:"methods,omitempty" maxItems:"16" doc:"Methods in capitals, or fetch and push for git; all when nothing is said."`
	Project string   `json:"project,omitempty" maxLength:"100" doc:"Only with this project, for git."`
	User    string   `json:"user,omitempty" maxLength:"200" doc:"User name, for git; git when nothing is said."`
	Header  string   `json:"header,omitempty" maxLength:"100" doc:"Name of the header, for use header."`
	Prefix  string   `json:"prefix,omitempty" maxLength:"100" doc:"Text before the key in the header."`
}

// vault registers the routes of the vault. All are for the owner only.
func (a *API) vault(h huma.API) {
	const base = "/api/computers/{computer}/vault"
	huma.Register(h, op("listVault", http.MethodGet, base, "List the entries of the vault that are bound to the computer, without their keys", 200),
		func(ctx context.Context, r *In) (*body[[]VaultEntry], error) {
			c, _, err := a.findComputer(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			entries, err := c.Vault.List(ctx)
			out := make([]VaultEntry, 0, len(entries))
			for _, e := range entries {
				out = append(out, viewEntry(e))
			}
			return answer(out, err)
		})
	huma.Register(h, op("setVault", http.MethodPut, base+"/{name}", "Keep a key in the vault and bind it; replaces one of the same name", 200),
		func(ctx context.Context, r *struct {
			In
			Name string `path:"name"`
			Body VaultRequest
		}) (*body[VaultEntry], error) {
			c, p, err := a.findComputer(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			b := r.Body
			e, err := c.Vault.Set(ctx, p.Role, r.Name, b.Key, choir.VaultBinding{
				Use: choir.VaultUse(b.Use), Host: b.Host, Port: portOf(b.Port), Paths: b.Paths, Methods: b.Methods,
				Computer: c.ID, Project: b.Project, User: b.User, Header: b.Header, Prefix: b.Prefix,
			})
			if err != nil {
				return nil, ProblemOf(err)
			}
			return answer(viewEntry(e), nil)
		})
	huma.Register(h, op("removeVault", http.MethodDelete, base+"/{name}", "Remove an entry from the vault", 200),
		func(ctx context.Context, r *struct {
			In
			Name string `path:"name"`
		}) (*struct{}, error) {
			c, p, err := a.findComputer(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			return nil, problem(c.Vault.Remove(ctx, p.Role, r.Name))
		})
	huma.Register(h, op("rotateVault", http.MethodPost, "/api/vault/rotate", "Encrypt the vault under a new master key; for the CLI only", 200),
		func(ctx context.Context, _ *struct{}) (*struct{}, error) {
			if err := onlyCLI(ctx); err != nil {
				return nil, err
			}
			return nil, problem(a.sys.RotateVault(ctx))
		})
}

// viewEntry returns an entry as its owner sees it.
func viewEntry(e keyring.Entry) VaultEntry {
	v := VaultEntry{Name: e.Name, SetAt: e.SetAt}
	if e.Bound != nil {
		v.Bound = *e.Bound
	}
	return v
}
