// Package connections determines which models are in force. The owner names models in
// choir.toml and on the shell's page. For the Director and for the Associate, the page's
// model is in force if it names one, and choir.toml's otherwise. Connections of the page
// take effect at once, and are stored in a file that choir writes.
package connections

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"choiros/internal/choir"
	"choiros/internal/config"
	"choiros/internal/control/api"
	"choiros/internal/control/modelgw"
	"choiros/internal/keyring"
	"choiros/internal/model"
)

// Config is the configuration of Connections. Required: Data, Keys, Key, Source,
// Provider, Tester, Now.
type Config struct {
	Data string        // the data folder, which has the file that choir writes
	File config.Models // [models] of choir.toml
	Keys keyring.Keeper
	// Key returns where the key of a service is stored, and whether it can be used.
	Key func(config.Provider) api.ModelKey
	// Source returns the function that reads the key of a service for each call; nil for
	// a service without a key.
	Source func(config.Provider) model.KeySource
	// Provider returns the client of a service, Tester a client without retries.
	Provider func(config.Provider, model.KeySource) (model.Provider, error)
	Tester   func(config.Provider, model.KeySource) (model.Provider, error)
	// Locked is the reason why nothing can be connected on the page; empty if it can.
	Locked choir.Reason
	Now    func() time.Time
}

// Connections are the models in force. Its methods are safe for concurrent use.
type Connections struct {
	cfg Config

	changing sync.Mutex // held during a change; other changes fail with busy
	made     map[config.Provider]model.Provider
	now      atomic.Pointer[inForce]
}

// inForce is the state of the connections at one time. It is immutable.
type inForce struct {
	page      config.Connected
	director  part
	associate part
	used      []part // all, each once
	listed    []Used // of used
	routing   modelgw.Routing
	models    api.ModelState
	roles     []api.ModelRole
}

// part is the model in force for the Director or for the Associate.
type part struct {
	named    string // provider/model; empty for none
	model    string
	provider config.Provider
	onPage   bool
}

// Open reads the page's connections and puts them in force. Errors name the file and the
// wrong key in it.
func Open(cfg Config) (*Connections, error) {
	c := &Connections{cfg: cfg, made: map[config.Provider]model.Provider{}}
	return c, c.Reload()
}

// Reload reads the page's connections again and puts them in force. A process calls it
// when it becomes the owner of the data folder, because another choir may have changed
// the file before.
func (c *Connections) Reload() error {
	c.changing.Lock()
	defer c.changing.Unlock()
	return c.reload()
}

// reload reads the page's connections and puts them in force. The caller holds changing.
func (c *Connections) reload() error {
	page, err := config.LoadConnected(c.cfg.Data)
	if err != nil {
		return err
	}
	next, err := c.resolve(page)
	if err != nil {
		return err
	}
	c.now.Store(next)
	return nil
}

// Routing returns the routes of model calls and the prices in force now.
func (c *Connections) Routing() modelgw.Routing { return c.now.Load().routing }

// Models returns which models are in force, with a sentence for people.
func (c *Connections) Models() api.ModelState { return c.now.Load().models }

// Roles returns the models of each role that has one, in order of preference.
func (c *Connections) Roles() []api.ModelRole { return c.now.Load().roles }

// resolve computes the state in which the page's connections are in force, without
// changing the current one.
func (c *Connections) resolve(page config.Connected) (*inForce, error) {
	n := &inForce{page: page, routing: modelgw.Routing{Routes: map[string]modelgw.Route{}, Prices: pricesOf(c.cfg.File.Prices, page.Prices)}}
	for _, alias := range c.aliases() {
		role, _ := c.cfg.File.Role(alias)
		parts := c.partsOf(role, page)
		if len(parts) == 0 {
			continue
		}
		switch alias {
		case modelgw.AliasDirector:
			n.director = parts[0]
		case modelgw.AliasAssociate:
			n.associate = parts[0]
		}
		route, err := c.route(role, parts)
		if err != nil {
			return nil, err
		}
		n.listUse(alias, parts, route)
		n.roles = append(n.roles, describeRole(role, parts))
		n.routing.Routes[alias] = route
	}
	n.models = c.describe(n)
	return n, nil
}

// describeRole returns a role for people.
func describeRole(role config.Role, parts []part) api.ModelRole {
	out := api.ModelRole{Role: role.Name, Models: []string{}, Effort: role.Effort, Temperature: role.Temperature}
	for _, p := range parts {
		out.Models = append(out.Models, p.named)
	}
	return out
}

// Used is a model in force with the roles that call it.
type Used struct {
	Named string // provider/model
	Roles []string
	Route modelgw.Route // without fallbacks
}

// Used returns the models in force, fallbacks included, each once.
func (c *Connections) Used() []Used { return c.now.Load().listed }

// listUse adds the models of a role to those in force.
func (n *inForce) listUse(alias string, parts []part, route modelgw.Route) {
	routes := append([]modelgw.Route{route}, route.Fallbacks...)
	for i, p := range parts {
		if at := slices.Index(n.used, p); at >= 0 {
			n.listed[at].Roles = append(n.listed[at].Roles, alias)
			continue
		}
		routes[i].Fallbacks = nil
		n.used = append(n.used, p)
		n.listed = append(n.listed, Used{Named: p.named, Roles: []string{alias}, Route: routes[i]})
	}
}

// aliases returns the names of the roles, the Director's and the Associate's first.
func (c *Connections) aliases() []string {
	out := []string{modelgw.AliasDirector, modelgw.AliasAssociate}
	for _, r := range c.cfg.File.Roles {
		if !slices.Contains(out, r.Name) {
			out = append(out, r.Name)
		}
	}
	return out
}

// partsOf returns the models of a role in order of preference: the page's, then those of
// choir.toml.
func (c *Connections) partsOf(role config.Role, page config.Connected) []part {
	onPage := map[string]string{modelgw.AliasDirector: page.Director, modelgw.AliasAssociate: page.Associate}[role.Name]
	var out []part
	if p := chosen(onPage, page.Models()); p.named != "" {
		p.onPage = true
		out = append(out, p)
	}
	for _, named := range role.Models {
		if p := chosen(named, c.cfg.File); p.named != "" && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// route returns the route of a role: to its preferred model, with the others as
// fallbacks.
func (c *Connections) route(role config.Role, parts []part) (modelgw.Route, error) {
	var routes []modelgw.Route
	for _, p := range parts {
		provider, err := c.make(p.provider)
		if err != nil {
			return modelgw.Route{}, err
		}
		routes = append(routes, modelgw.Route{Provider: provider, Model: p.model, Free: p.provider.Free, Effort: role.Effort, Temperature: role.Temperature})
	}
	routes[0].Fallbacks = routes[1:]
	return routes[0], nil
}

// chosen returns the model called provider/model of the services in of; empty if there
// is none.
func chosen(named string, of config.Models) part {
	name, modelName, ok := strings.Cut(named, "/")
	if !ok {
		return part{}
	}
	for _, p := range of.Providers {
		if p.Name == name {
			return part{named: named, model: modelName, provider: p}
		}
	}
	return part{}
}

// make returns the client of a service. It reuses the client of an equal service, with
// its open connections.
func (c *Connections) make(p config.Provider) (model.Provider, error) {
	if made := c.made[p]; made != nil {
		return made, nil
	}
	made, err := c.cfg.Provider(p, c.keySource(p))
	if err == nil {
		c.made[p] = made
	}
	return made, err
}

// keySource returns the function that reads a service's key for each call. The key of a
// service of the page is returned only while its kind, address and region are unchanged:
// a call that began before a change must not send the key of the service that now has
// its name. Code unavailable: it changed.
func (c *Connections) keySource(p config.Provider) model.KeySource {
	read := c.cfg.Source(p)
	if read == nil || !p.Kept {
		return read
	}
	return func(ctx context.Context) (string, error) {
		key, err := read(ctx)
		if err != nil {
			return "", err
		}
		// Asked after the key was read: the old service is gone before a new key is kept.
		s, ok := c.now.Load().page.Service(p.Name)
		if now := s.Provider(); !ok || now.Kind != p.Kind || now.BaseURL != p.BaseURL || now.Region != p.Region {
			return "", choir.Refuse("models.key", choir.ReasonServiceChanged, choir.TextOf("name", p.Name))
		}
		return key, nil
	}
}

// describe returns which models are in force, with a sentence for people.
func (c *Connections) describe(n *inForce) api.ModelState {
	m := api.ModelState{
		Director: n.director.named, Associate: n.associate.named, Connected: n.director.named != "" && n.associate.named != "",
		OnPage: n.director.onPage || n.associate.onPage,
	}
	m.Priceless = n.priceless()
	m.Message = c.TellModels(m).Text
	return m
}

// Priceless returns the models in force without a known price.
func (c *Connections) Priceless() []string { return c.now.Load().priceless() }

// priceless returns the names of models in force without a known price.
func (n *inForce) priceless() (names []string) {
	for _, p := range n.used {
		r := modelgw.Route{Model: p.model, Free: p.provider.Free}
		if _, known := modelgw.PriceOf(n.routing.Prices, r); !known && !slices.Contains(names, r.Model) {
			names = append(names, r.Model)
		}
	}
	return names
}

// pricesOf returns the prices by model name. Later lists override earlier ones; missing
// cache prices are the input price.
func pricesOf(lists ...[]config.Price) map[string]modelgw.Price {
	prices := map[string]modelgw.Price{}
	for _, list := range lists {
		for _, p := range list {
			price := modelgw.Price{Input: p.Input, Output: p.Output, CacheRead: p.CacheRead, CacheWrite: p.CacheWrite}
			if price.CacheRead == 0 {
				price.CacheRead = p.Input
			}
			if price.CacheWrite == 0 {
				price.CacheWrite = p.Input
			}
			prices[p.Model] = price
		}
	}
	return prices
}

// Providers returns the model services, the page's before choir.toml's, with the roles
// that use each.
func (c *Connections) Providers() []api.ModelProvider {
	n := c.now.Load()
	out := []api.ModelProvider{}
	add := func(p config.Provider, set string) {
		view := api.ModelProvider{Name: p.Name, Kind: p.Kind, Address: p.BaseURL, Region: p.Region, Set: set, Uses: []string{}, Key: c.cfg.Key(p)}
		for _, role := range []struct {
			alias string
			part
		}{{modelgw.AliasDirector, n.director}, {modelgw.AliasAssociate, n.associate}} {
			if role.named != "" && role.provider == p {
				view.Uses = append(view.Uses, role.alias)
			}
		}
		out = append(out, view)
	}
	for _, p := range n.page.Models().Providers {
		add(p, "page")
	}
	for _, p := range c.cfg.File.Providers {
		add(p, "file")
	}
	return out
}

// Override sets, in a list of settings, the models that the page overrides, and names
// the page's file as their origin.
func (c *Connections) Override(settings []config.Setting) []config.Setting {
	n := c.now.Load()
	for i, s := range settings {
		for key, p := range map[string]part{"models.director": n.director, "models.associate": n.associate} {
			if s.Key == key && p.onPage {
				settings[i].Value, settings[i].From = p.named, filepath.Join(c.cfg.Data, config.ConnectedFile)
			}
		}
	}
	return settings
}
