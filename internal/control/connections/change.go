package connections

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"choiros/internal/choir"
	"choiros/internal/config"
	"choiros/internal/control/api"
	"choiros/internal/control/modelgw"
	"choiros/internal/durablefile"
	"choiros/internal/keyring"
	"choiros/internal/model"
)

// testTimeout bounds the test of a service. A model that reasons needs a few
// seconds for a few tokens.
const testTimeout = 20 * time.Second

// Try calls a model once along a route that is not in force.
type Try func(ctx context.Context, route modelgw.Route, prices map[string]modelgw.Price) (model.Response, error)

// Connect tests a service and puts it in force: the next model call of every run
// goes there, one under way ends where it began. Nothing changes when the test
// fails. No error holds the key.
func (c *Connections) Connect(ctx context.Context, r api.ConnectRequest, try Try) (api.Connected, error) {
	r.Key = strings.TrimSpace(r.Key)
	out, err := c.connect(ctx, r, try)
	return out, withoutKey(err, r.Key)
}

func (c *Connections) connect(ctx context.Context, r api.ConnectRequest, try Try) (out api.Connected, err error) {
	if c.cfg.Locked != "" {
		return out, choir.E("models.connect", choir.CodeUnavailable, "%s", c.cfg.Locked)
	}
	if !c.changing.TryLock() {
		return out, errChanging
	}
	defer c.changing.Unlock()
	next, service, err := c.with(ctx, r)
	if err != nil {
		return out, err
	}
	p := service.Provider()
	source := c.cfg.Source(p)
	if r.Key != "" {
		source = func(context.Context) (string, error) { return r.Key, nil }
	}
	route := modelgw.Route{Model: r.Model, Free: r.Free}
	prices := pricesOf(c.cfg.File.Prices, next.Prices)
	if _, known := modelgw.PriceOf(prices, route); !known {
		return out, choir.Invalid("price", "the price of the model %s is not known", r.Model).WithRemedy("say what a million tokens cost, or that it is free")
	}
	if route.Provider, err = c.cfg.Tester(p, source); err != nil {
		return out, err
	}
	if !r.Untested {
		if out, err = c.test(ctx, route, prices, try); err != nil {
			return out, err
		}
	}
	return out, c.saveAndApply(ctx, next, service, r.Key)
}

// with is what the page has connected once a request is in force.
func (c *Connections) with(ctx context.Context, r api.ConnectRequest) (config.Connected, config.Service, error) {
	page := c.now.Load().page
	next := config.Connected{Director: page.Director, Associate: page.Associate, Services: slices.Clone(page.Services), Prices: slices.Clone(page.Prices)}
	s := config.Service{Name: r.Name, Kind: r.Kind, BaseURL: r.Address, Region: r.Region, Free: r.Free}
	if err := c.checkRequest(ctx, r, &s, page); err != nil {
		return next, s, err
	}
	next.Services = slices.DeleteFunc(next.Services, func(old config.Service) bool { return old.Name == s.Name })
	next.Services = append(next.Services, s)
	if len(r.Uses) == 0 || slices.Contains(r.Uses, modelgw.AliasDirector) {
		next.Director = s.Name + "/" + r.Model
	}
	if len(r.Uses) == 0 || slices.Contains(r.Uses, modelgw.AliasAssociate) {
		next.Associate = s.Name + "/" + r.Model
	}
	if r.Price != nil {
		next.Prices = slices.DeleteFunc(next.Prices, func(p config.Price) bool { return p.Model == r.Model })
		next.Prices = append(next.Prices, config.Price{Model: r.Model, Input: r.Price.Input, Output: r.Price.Output})
	}
	return next, s, next.Check()
}

// checkRequest refuses what choir.toml may say and a page may not, and finds out
// whether the service has a key. A key that is kept goes on being used only where
// the service stays what it was: else who has a session could have it sent
// elsewhere.
func (c *Connections) checkRequest(ctx context.Context, r api.ConnectRequest, s *config.Service, page config.Connected) error {
	if err := cmp.Or(keyring.CheckName(r.Name), checkAddress(r.Address)); err != nil {
		return err
	}
	if r.Kind == "bedrock" && r.Region == "" {
		return choir.Invalid("region", "a region is needed for Amazon Bedrock, such as us-east-1")
	}
	if r.Key != "" {
		return keyring.CheckKey(r.Key)
	}
	old, known := page.Service(r.Name)
	same := known && sameService(old, *s)
	names, err := c.cfg.Keys.Names(ctx)
	switch {
	case err != nil:
		return err
	case same && !old.Keyless && slices.Contains(names, r.Name):
		return nil
	case known && !old.Keyless && !same:
		return choir.Invalid("key", "the key must be given again when the kind, the address or the region of a service changes")
	case r.Kind == "openai" && r.Address != "":
		s.Keyless = true
		return nil
	}
	return choir.Invalid("key", "the key is missing").WithRemedy("paste the key of the service")
}

// checkAddress refuses an address that could hold a secret, which would be shown,
// or that is where clouds give credentials to whoever asks.
func checkAddress(address string) error {
	if address == "" {
		return nil
	}
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return choir.Invalid("address", "the address is not an http or https address, such as https://models.example/v1")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return choir.Invalid("address", "the address must not hold a password, a query or a fragment").WithRemedy("give the key in its own field")
	}
	if ip := net.ParseIP(u.Hostname()); ip != nil && !Allowed(ip) {
		return choir.Invalid("address", "%s is not an address of a model service", ip)
	}
	return nil
}

// Allowed reports whether a connection that was made on the page may lead to an
// address. Link-local ones are where clouds give a machine's credentials away;
// those of this machine and of its network are where people run models.
func Allowed(ip net.IP) bool {
	return !ip.IsLinkLocalUnicast() && !ip.IsMulticast() && !ip.IsUnspecified() && !ip.Equal(net.IPv4bcast)
}

func (c *Connections) test(ctx context.Context, route modelgw.Route, prices map[string]modelgw.Price, try Try) (api.Connected, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, testTimeout, errTestTimeout)
	defer cancel()
	began := c.cfg.Now()
	resp, err := try(ctx, route, prices)
	if err != nil && errors.Is(context.Cause(ctx), errTestTimeout) {
		err = errTestTimeout
	}
	return api.Connected{
		Model: cmp.Or(resp.Model, route.Model), DurationMS: c.cfg.Now().Sub(began).Milliseconds(),
		InputTokens: resp.Usage.Input, OutputTokens: resp.Usage.Output, CostUSD: resp.Usage.CostUSD,
	}, err
}

var errChanging = choir.E("models.connect", choir.CodeBusy, "another connection is being tested").WithRemedy("try again when its test has ended")

var errTestTimeout = choir.E("models.test", choir.CodeTimeout, "the service did not answer within %s", testTimeout).
	WithRemedy("check its address, or connect it without the test")

// sameService reports whether a key that was given for one may be sent to the other.
func sameService(a, b config.Service) bool {
	return a.Kind == b.Kind && a.BaseURL == b.BaseURL && a.Region == b.Region
}

// saveAndApply makes a change durable, the key before what names it, and puts it
// in force. A service that becomes another is removed first: a call under way, and a
// choir that was killed in between, must not send the new key to the old address.
func (c *Connections) saveAndApply(ctx context.Context, next config.Connected, s config.Service, key string) error {
	ctx = context.WithoutCancel(ctx)
	page := c.now.Load().page
	if old, known := page.Service(s.Name); known && !sameService(old, s) {
		if err := c.removeService(page, s.Name); err != nil {
			return err
		}
	}
	ready, err := c.resolve(next)
	if err != nil {
		return err
	}
	if key != "" {
		if err := c.cfg.Keys.Put(ctx, s.Name, key); err != nil {
			return err
		}
	}
	if err := c.write(next); err != nil {
		return err
	}
	c.now.Store(ready)
	return nil
}

func (c *Connections) write(next config.Connected) error {
	raw, err := next.Encode()
	if err != nil {
		return err
	}
	path := filepath.Join(c.cfg.Data, config.ConnectedFile)
	return choir.Wrap("models.keep", choir.CodeUnavailable, durablefile.Write(path, raw), "write %s", path)
}

// Disconnect removes a service of the page, and its key. Where it was in force,
// choir.toml's model is again, or none. Code not_found when the page has no such
// service.
func (c *Connections) Disconnect(ctx context.Context, name string) error {
	if !c.changing.TryLock() {
		return errChanging
	}
	defer c.changing.Unlock()
	page := c.now.Load().page
	if _, ok := page.Service(name); !ok {
		return choir.E("models.disconnect", choir.CodeNotFound, "no model service %q was connected here", name).
			WithRemedy("those of choir.toml are removed there")
	}
	if err := c.removeService(page, name); err != nil {
		return err
	}
	return c.cfg.Keys.Delete(context.WithoutCancel(ctx), name)
}

// removeService puts in force what is connected without a service; its key stays.
func (c *Connections) removeService(page config.Connected, name string) error {
	of := func(named string) bool { return strings.HasPrefix(named, name+"/") }
	if of(page.Director) {
		page.Director = ""
	}
	if of(page.Associate) {
		page.Associate = ""
	}
	page.Services = slices.DeleteFunc(slices.Clone(page.Services), func(s config.Service) bool { return s.Name == name })
	ready, err := c.resolve(page)
	if err != nil {
		return err
	}
	if err := c.write(page); err != nil {
		return err
	}
	c.now.Store(ready)
	return nil
}

// Sweep removes the keys that no service has, which a crash in the middle of a
// change leaves.
func (c *Connections) Sweep(ctx context.Context) error {
	c.changing.Lock()
	defer c.changing.Unlock()
	var names []string
	for _, s := range c.now.Load().page.Services {
		if !s.Keyless {
			names = append(names, s.Name)
		}
	}
	return c.cfg.Keys.Sweep(ctx, names)
}

// withoutKey takes a key out of what an error says.
func withoutKey(err error, key string) error {
	if err == nil || len(key) < 4 || !strings.Contains(err.Error(), key) {
		return err
	}
	var e *choir.Error
	if !errors.As(err, &e) {
		return fmt.Errorf("%s", strings.ReplaceAll(err.Error(), key, "[key]"))
	}
	clean := *e
	clean.Err = nil
	clean.Msg, clean.Path = strings.ReplaceAll(e.Error(), key, "[key]"), ""
	clean.Op, clean.Remedy = "", ""
	return &clean
}
