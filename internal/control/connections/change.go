package connections

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
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
	"choiros/internal/model/attempt"
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
	_, priced := modelgw.PriceOf(prices, route)
	if route.Provider, err = c.cfg.Tester(p, source); err != nil {
		return out, err
	}
	if !r.Untested {
		// The few tokens of a test count as free where nobody knows what they cost.
		route.Free = route.Free || !priced
		if out, err = c.test(ctx, route, prices, try); err != nil {
			return out, inForm(err)
		}
	}
	if !priced {
		return out, priceMissing(r, out)
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
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil && !Allowed(ip) {
		return choir.Invalid("address", "%s is not an address of a model service", ip)
	}
	return nil
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

// priceMissing refuses a model whose price is not known, which only a test may go without.
func priceMissing(r api.ConnectRequest, tested api.Connected) error {
	refused := choir.Invalid("price", "choir does not know what the model %s costs", r.Model)
	if !r.Untested {
		refused = choir.Invalid("price", "the model %s answered in %.1f s, and choir does not know what it costs", r.Model, float64(tested.DurationMS)/1000)
	}
	return refused.WithRemedy("to connect it, say what a million tokens cost, or that it is free")
}

// inForm says what helps in the words of the form that is being filled in.
func inForm(err error) error {
	problem := choir.ProblemOf(err)
	remedy := map[string]string{
		attempt.CheckKey:     "check the key in this form",
		attempt.CheckAddress: "start it there, or correct the address in this form",
	}[problem.Remedy]
	if remedy == "" {
		return err
	}
	return choir.E("models.test", problem.Code, "%s", problem.Message).WithRemedy("%s", remedy)
}

var errChanging = choir.E("models.connect", choir.CodeBusy, "another connection is being tested").WithRemedy("try again when its test has ended")

var errTestTimeout = choir.E("models.test", choir.CodeTimeout, "the service did not answer within %s", testTimeout).
	WithRemedy("check its address, or connect it without the test")

// sameService reports whether a key that was given for one may be sent to the other.
func sameService(a, b config.Service) bool {
	return a.Kind == b.Kind && a.BaseURL == b.BaseURL && a.Region == b.Region
}

// saveAndApply makes a change durable and puts it in force. A service that becomes
// another is removed first: a call under way, and a choir that was killed in between,
// must not send the new key to the old address. When the rest fails it is put back.
func (c *Connections) saveAndApply(ctx context.Context, next config.Connected, s config.Service, key string) error {
	before := c.now.Load()
	ready, err := c.resolve(next)
	if err != nil {
		return err
	}
	old, known := before.page.Service(s.Name)
	moves := known && !sameService(old, s)
	if moves {
		if err := c.removeService(before.page, s.Name); err != nil {
			return err
		}
	}
	newKey, err := c.save(context.WithoutCancel(ctx), next, s.Name, key)
	switch {
	case err != nil && moves:
		return c.putBack(before, s.Name, newKey, err)
	case err != nil:
		return err
	}
	c.now.Store(ready)
	return nil
}

// save makes a change durable, the key before what names it. newKey reports whether
// the keyring may have the new key, also when it fails.
func (c *Connections) save(ctx context.Context, next config.Connected, name, key string) (newKey bool, err error) {
	if key != "" {
		if err := c.cfg.Keys.Put(ctx, name, key); err != nil {
			return errors.Is(err, keyring.ErrUncertain), err
		}
	}
	return key != "", c.write(next)
}

// putBack puts in force what was before a change that failed, and returns why it
// failed. With a new key in the keyring nothing is put back, since the old address
// would get it; then, and when this fails too, the error says what is removed.
func (c *Connections) putBack(before *inForce, name string, newKey bool, why error) error {
	if !newKey {
		err := c.write(before.page)
		if err == nil {
			c.now.Store(before)
			return why
		}
		why = fmt.Errorf("%w; %w", why, err)
	}
	gone := choir.E("models.connect", choir.CodeUnavailable, "the former connection of %s is removed, and the new one could not be saved", name).
		WithRemedy("connect it again")
	gone.Err = why
	return gone
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
// choir.toml's model is again, or none. A removal whose key stayed can be repeated.
// Code not_found when the page has no such service and the keyring no such key.
func (c *Connections) Disconnect(ctx context.Context, name string) error {
	if !c.changing.TryLock() {
		return errChanging
	}
	defer c.changing.Unlock()
	ctx = context.WithoutCancel(ctx)
	page := c.now.Load().page
	if _, ok := page.Service(name); ok {
		if err := c.removeService(page, name); err != nil {
			return err
		}
	} else if keys, err := c.cfg.Keys.Names(ctx); err != nil {
		return err
	} else if !slices.Contains(keys, name) {
		return choir.E("models.disconnect", choir.CodeNotFound, "no model service %q was connected here", name).
			WithRemedy("those of choir.toml are removed there")
	}
	if err := c.cfg.Keys.Delete(ctx, name); err != nil {
		stays := choir.E("models.disconnect", choir.CodeUnavailable, "the service %s is removed, but its key is not", name).
			WithRemedy("remove %s, or start choir again, which removes it", c.cfg.Keys.Describe(ctx, name).Where)
		stays.Err = err
		return stays
	}
	return nil
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
// change leaves. It reads the services again, as Reload does: a key of a service that
// another choir connected meanwhile must stay.
func (c *Connections) Sweep(ctx context.Context) error {
	c.changing.Lock()
	defer c.changing.Unlock()
	if err := c.reload(); err != nil {
		return err
	}
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
