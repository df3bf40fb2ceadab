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
)

// testTimeout is the maximum time for the test of a service. A model that reasons needs
// a few seconds for a few tokens.
const testTimeout = 20 * time.Second

// Try calls a model once over a route that is not in force.
type Try func(ctx context.Context, route modelgw.Route, prices map[string]modelgw.Price) (model.Response, error)

// Connect tests a model service, stores its key and puts it in force for the next model
// call of every run; calls in progress end with the old service. If the test fails
// nothing changes. Errors never contain the key. Code busy: another change is in
// progress.
func (c *Connections) Connect(ctx context.Context, r api.ConnectRequest, try Try) (api.Connected, error) {
	r.Key = strings.TrimSpace(r.Key)
	out, err := c.connect(ctx, r, try)
	return out, withoutKey(err, r.Key)
}

// connect is Connect without removing the key from errors.
func (c *Connections) connect(ctx context.Context, r api.ConnectRequest, try Try) (out api.Connected, err error) {
	if c.cfg.Locked != "" {
		return out, choir.Refuse("models.connect", c.cfg.Locked)
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

// with returns the page's connections as they will be after a request, and the requested
// service. Errors of code invalid name the field.
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

// checkRequest validates a request and sets s.Keyless for a service that needs no key.
// It refuses values that only choir.toml may have, and a service without a key. A stored
// key is reused only if kind, address and region are unchanged: otherwise a stolen
// session could have it sent elsewhere.
func (c *Connections) checkRequest(ctx context.Context, r api.ConnectRequest, s *config.Service, page config.Connected) error {
	if err := cmp.Or(keyring.CheckName(r.Name), checkAddress(r.Address)); err != nil {
		return err
	}
	if r.Kind == "bedrock" && r.Region == "" {
		return choir.Refuse("models.connect", choir.ReasonRegionMissing).At("region")
	}
	if r.Key != "" {
		if config.IsUnencrypted(r.Address) {
			return choir.Refuse("models.connect", choir.ReasonAddressUnencrypted).At("address")
		}
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
		return choir.Refuse("models.connect", choir.ReasonKeyAgain).At("key")
	case r.Kind == "openai" && r.Address != "":
		s.Keyless = true
		return nil
	}
	return choir.Refuse("models.connect", choir.ReasonKeyMissing).At("key")
}

// checkAddress refuses an address that is no http or https URL, that may contain a
// secret (it is shown), or at which clouds give out credentials. Code invalid.
func checkAddress(address string) error {
	if address == "" {
		return nil
	}
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return choir.Refuse("models.connect", choir.ReasonAddressNotHTTP).At("address")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return choir.Refuse("models.connect", choir.ReasonAddressWithSecret).At("address")
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil && !Allowed(ip) {
		return choir.Refuse("models.connect", choir.ReasonAddressForbidden, choir.TextOf("address", ip)).At("address")
	}
	return nil
}

// test calls a model once within testTimeout and returns what it took. Code timeout: it
// did not answer in time.
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

// priceMissing returns the error for a model without a known price. Only a test may be
// made without one.
func priceMissing(r api.ConnectRequest, tested api.Connected) error {
	model := choir.TextOf("model", r.Model)
	if r.Untested {
		return choir.Refuse("models.connect", choir.ReasonPriceUnknown, model).At("price")
	}
	seconds := choir.TextOf("seconds", fmt.Sprintf("%.1f", float64(tested.DurationMS)/1000))
	return choir.Refuse("models.connect", choir.ReasonPriceUnknownTested, model, seconds).At("price")
}

// inForm replaces an error's remedy by one in the words of the page's form.
func inForm(err error) error {
	p := choir.ProblemOf(err)
	reason, ok := map[choir.Reason]choir.Reason{
		choir.ReasonKeyRefused:       choir.ReasonKeyRefusedInForm,
		choir.ReasonModelUnreachable: choir.ReasonModelUnreachableInForm,
	}[p.Reason]
	if !ok {
		return err
	}
	e := choir.Refuse("models.test", reason, p.Values...)
	e.Msg = p.Message // with the words of the service
	return e
}

var errChanging = choir.Refuse("models.connect", choir.ReasonConnectUnderWay)

var errTestTimeout = choir.Refuse("models.test", choir.ReasonModelSilent, choir.SecondsOf("span", testTimeout))

// sameService reports whether two services have the same kind, address and region, so
// that a key for one may be sent to the other.
func sameService(a, b config.Service) bool {
	return a.Kind == b.Kind && a.BaseURL == b.BaseURL && a.Region == b.Region
}

// saveAndApply stores a change durably and puts it in force. If it changes the kind,
// address or region of a service, that service is removed first, so that neither a call
// in progress nor a choir killed in between sends the new key to the old address. If the
// rest fails the old connection is restored.
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
		return c.restorePrevious(before, s.Name, newKey, err)
	case err != nil:
		return err
	}
	c.now.Store(ready)
	return nil
}

// save stores a change durably, the key before the file that names its service. newKey
// reports whether the keyring may have the new key, also on failure.
func (c *Connections) save(ctx context.Context, next config.Connected, name, key string) (newKey bool, err error) {
	if key != "" {
		if err := c.cfg.Keys.Put(ctx, name, key); err != nil {
			return errors.Is(err, keyring.ErrUncertain), err
		}
	}
	return key != "", c.write(next)
}

// restorePrevious puts the connections from before a failed change in force again, and
// returns why it failed. If the keyring may have the new key nothing is restored, since
// the old address would get it; then, and if restoring fails too, the error says that
// the connection is removed.
func (c *Connections) restorePrevious(before *inForce, name string, newKey bool, why error) error {
	if !newKey {
		err := c.write(before.page)
		if err == nil {
			c.now.Store(before)
			return why
		}
		why = fmt.Errorf("%w; %w", why, err)
	}
	gone := choir.Refuse("models.connect", choir.ReasonConnectionLost, choir.TextOf("name", name))
	gone.Err = why
	return gone
}

// write durably stores the page's connections in their file.
func (c *Connections) write(next config.Connected) error {
	raw, err := next.Encode()
	if err != nil {
		return err
	}
	path := filepath.Join(c.cfg.Data, config.ConnectedFile)
	return choir.Wrap("models.keep", choir.CodeUnavailable, durablefile.Write(path, raw), "write %s", path)
}

// Disconnect removes a service of the page and its key. Where it was in force,
// choir.toml's model is in force again, or none. If only the key's removal failed,
// Disconnect can be repeated. Code not_found: neither the page has the service nor the
// keyring the key.
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
		return choir.Refuse("models.disconnect", choir.ReasonServiceUnknown, choir.TextOf("name", name))
	}
	if err := c.cfg.Keys.Delete(ctx, name); err != nil {
		stays := choir.Refuse("models.disconnect", choir.ReasonServiceKeyStays, choir.TextOf("name", name), choir.TextOf("where", c.cfg.Keys.Describe(ctx, name).Where))
		stays.Err = err
		return stays
	}
	return nil
}

// removeService puts the page's connections in force without a service. The service's
// key stays in the keyring.
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

// Sweep removes keys without a service, which a crash during a change leaves behind. It
// first reads the services again as Reload does, because a key of a service that another
// choir connected meanwhile must stay.
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

// withoutKey replaces a key in the text of an error by "[key]". An error without the key
// is returned unchanged.
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
	clean.Values = slices.Clone(e.Values)
	for i := range clean.Values {
		clean.Values[i].Text = strings.ReplaceAll(clean.Values[i].Text, key, "[key]")
	}
	return &clean
}
