package config

import (
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"choiros/internal/choir"
	"choiros/internal/control/egress"
	"choiros/internal/model"
)

// Check returns an error for the first value that is out of range (code invalid) or asks for
// a feature that does not exist yet (code unavailable), with the key as its path.
func (c Config) Check() error {
	for _, f := range []func() error{c.checkFeatures, c.checkSprites, c.checkDurability, c.checkToolchains, c.checkRanges, c.checkModels, c.checkPrices, c.checkTrace, c.checkHibernation, c.checkEgress, c.checkApprove, c.checkRemote} {
		if err := f(); err != nil {
			return err
		}
	}
	_, port, err := net.SplitHostPort(c.Listen.Address)
	if n, perr := strconv.Atoi(port); err != nil || perr != nil || n < 0 || n > 65535 {
		return choir.RefuseField("listen.address", choir.ReasonConfigHostPort, choir.TextOf("given", c.Listen.Address))
	}
	return c.Listen.checkSite()
}

// notYet returns the error for a key that asks for a feature that does not exist yet.
func notYet(key, what string) error {
	return choir.RefuseField(key, choir.ReasonConfigNotYet, choir.TextOf("what", what))
}

// checkFeatures returns an error with code unavailable for keys of features that do not exist yet.
func (c Config) checkFeatures() error {
	switch {
	case c.Runtime.Mode == "tee":
		return notYet("runtime.mode", "the tee rung")
	case !slices.Contains([]string{"local", "gvisor", "container", "microvm", "sprites"}, c.Runtime.Mode):
		return choir.RefuseField("runtime.mode", choir.ReasonFieldOneOf, choir.TextOf("names", "local, gvisor, container, microvm, sprites"), choir.TextOf("given", c.Runtime.Mode))
	case c.Container.Socket != "" && !filepath.IsAbs(c.Container.Socket):
		return choir.RefuseField("container.socket", choir.ReasonConfigAbsolute, choir.TextOf("given", c.Container.Socket))
	case c.Gvisor.Runsc != "" && !filepath.IsAbs(c.Gvisor.Runsc):
		return choir.RefuseField("gvisor.runsc", choir.ReasonConfigAbsolute, choir.TextOf("given", c.Gvisor.Runsc))
	case c.Storage.BlobsURL != "":
		return notYet("storage.blobs_url", "an object store")
	case c.TEE.AttestationServer != "":
		return notYet("tee.attestation_server", "attestation")
	case c.TEE.KeyServer != "":
		return notYet("tee.key_server", "key release")
	case c.Auth.Mode != "local":
		return notYet("auth.mode", c.Auth.Mode+" login")
	case c.Bus.Mode != "embedded":
		return notYet("bus.mode", "an external bus")
	}
	return c.checkMicroVM()
}

// socketName matches a name that nothing else in the folder of a machine has but api.sock.
var socketName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}[.]sock$`)

// checkMicroVM returns an error for a machine that there cannot be.
func (c Config) checkMicroVM() error {
	vm := c.MicroVM
	for _, f := range []struct{ key, path string }{{"microvm.kernel", vm.Kernel}, {"microvm.rootfs", vm.Rootfs}} {
		switch {
		case f.path != "" && !filepath.IsAbs(f.path):
			return choir.RefuseField(f.key, choir.ReasonConfigAbsolute, choir.TextOf("given", f.path))
		case f.path == "" && c.Runtime.Mode == "microvm":
			return choir.RefuseField(f.key, choir.ReasonConfigNoImage)
		}
	}
	switch {
	case vm.VMM != "qemu" && vm.VMM != "firecracker":
		return choir.RefuseField("microvm.vmm", choir.ReasonFieldOneOf, choir.TextOf("names", "qemu, firecracker"), choir.TextOf("given", vm.VMM))
	case vm.Firecracker != "" && !filepath.IsAbs(vm.Firecracker):
		return choir.RefuseField("microvm.firecracker", choir.ReasonConfigAbsolute, choir.TextOf("given", vm.Firecracker))
	case vm.Jailer != "" && vm.Jailer != "none" && !filepath.IsAbs(vm.Jailer):
		return choir.RefuseField("microvm.jailer", choir.ReasonConfigJailer, choir.TextOf("given", vm.Jailer))
	case vm.GuestCID != 0 && (vm.GuestCID < 3 || int64(vm.GuestCID) >= 1<<32-1):
		return choir.RefuseField("microvm.guest_cid", choir.ReasonConfigGuestCID, choir.TextOf("given", vm.GuestCID))
	case vm.UDSPath != "" && (!socketName.MatchString(vm.UDSPath) || vm.UDSPath == "api.sock"):
		return choir.RefuseField("microvm.uds_path", choir.ReasonConfigUDSPath, choir.TextOf("given", vm.UDSPath))
	case c.Runtime.Mode == "microvm" && len(c.Runtime.Toolchains) > 0:
		return choir.RefuseField("runtime.toolchains", choir.ReasonConfigNoToolchainsVM)
	}
	return nil
}

// checkSprites returns an error for sprites that cannot be made, or an address to which the
// token would be sent unencrypted over the network.
func (c Config) checkSprites() error {
	s, used := c.Sprites, c.Runtime.Mode == "sprites"
	switch {
	case s.TokenFile == "" && used:
		return choir.RefuseField("sprites.token_file", choir.ReasonConfigNoToken)
	case s.TokenFile != "" && !filepath.IsAbs(s.TokenFile):
		return choir.RefuseField("sprites.token_file", choir.ReasonConfigNotAbsolute) // it may be the token itself
	case used && len(c.Runtime.Toolchains) > 0:
		return choir.RefuseField("runtime.toolchains", choir.ReasonConfigNoToolchainsSprites)
	}
	if s.URL == "" {
		return nil
	}
	u, err := url.Parse(s.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" {
		return choir.RefuseField("sprites.url", choir.ReasonConfigHTTP)
	}
	if u.Scheme == "http" && !isHere(u.Hostname()) {
		return choir.RefuseField("sprites.url", choir.ReasonConfigTokenUnencrypted, choir.TextOf("given", s.URL))
	}
	return nil
}

// isHere reports whether a host is this machine.
func isHere(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback()
}

// checkDurability returns an error unless bus.cluster is set exactly if durability is
// replicated.
func (c Config) checkDurability() error {
	given := len(c.Bus.Cluster) > 0
	switch {
	case c.Storage.Durability != "local" && c.Storage.Durability != "replicated":
		return choir.RefuseField("storage.durability", choir.ReasonFieldOneOf, choir.TextOf("names", "local, replicated"), choir.TextOf("given", c.Storage.Durability))
	case c.Storage.Durability == "replicated" && !given:
		return choir.RefuseField("bus.cluster", choir.ReasonConfigNoNodes)
	case c.Storage.Durability == "local" && (given || c.Bus.ClusterCredentials != ""):
		return choir.RefuseField("bus.cluster", choir.ReasonConfigNeedsReplicated)
	}
	for i, node := range c.Bus.Cluster {
		if err := checkNode(fmt.Sprintf("bus.cluster[%d]", i), node); err != nil {
			return err
		}
	}
	return nil
}

// checkNode returns an error unless node is an address of a NATS node. The error does not
// repeat the text, which may hold a password.
func checkNode(at, node string) error {
	u, err := url.Parse(node)
	switch {
	case err != nil || u.Scheme != "nats" && u.Scheme != "tls" || u.Hostname() == "" || u.Port() == "" || u.Path != "" || u.RawQuery != "":
		return choir.RefuseField(at, choir.ReasonConfigNATS)
	case u.User != nil:
		return choir.RefuseField(at, choir.ReasonConfigPassword)
	}
	return nil
}

// checkRanges returns an error with code invalid for the first number out of its range.
func (c Config) checkRanges() error {
	l := c.Limits
	for _, r := range []struct {
		key          string
		v, low, high float64
	}{
		{"computers.awake_at_most", float64(c.Computers.AwakeAtMost), 0, 100_000},
		{"computers.ready", float64(c.Computers.Ready), 0, 1000},
		{"microvm.vcpu", float64(c.MicroVM.VCPU), 0, 64},
		{"microvm.memory_mb", float64(c.MicroVM.MemoryMB), 0, 1 << 20},
		{"git.auto_commit_interval", float64(c.Git.AutoCommitInterval), 10, 86_400},
		{"git.auto_commit_threshold", float64(c.Git.AutoCommitThreshold), 1, 100_000},
		{"storage.cache_mb", float64(c.Storage.CacheMB), 0, 1 << 24},
		{"storage.file_mb", float64(c.Storage.FileMB), 0, 1 << 24},
		{"storage.workspace_mb", float64(c.Storage.WorkspaceMB), 0, 1 << 28},
		{"storage.disk_gb", float64(c.Storage.DiskGB), 0, 1 << 20},
		{"storage.entries", float64(c.Storage.Entries), 1000, 4 << 20},
		{"storage.keep_days", float64(c.Storage.KeepDays), 0, 36_500},
		{"egress.package_cache_mb", float64(c.Egress.PackageCacheMB), 0, 1 << 24},
		{"limits.processes", float64(l.Processes), 16, 1 << 20},
		{"limits.memory_mb", float64(l.MemoryMB), 64, 1 << 24},
		{"limits.cpu_milli", float64(l.CPUMilli), 50, 1 << 20},
		{"limits.run_steps", float64(l.RunSteps), 1, 10_000},
		{"limits.run_calls", float64(l.RunCalls), 1, 1e6},
		{"limits.run_tokens", float64(l.RunTokens), 1, 1e12},
		{"limits.run_cost_usd", l.RunCostUSD, 0, choir.MaxCostUSD},
		{"limits.run_seconds", float64(l.RunSeconds), 1, 604_800},
		{"limits.run_tasks", float64(l.RunTasks), 1, 10_000},
		{"limits.cost_usd", l.CostUSD, 0, choir.MaxCostUSD},
		{"limits.desktop_cost_usd", l.DesktopCost, 0, choir.MaxCostUSD},
		{"limits.prompt_burst", float64(l.PromptBurst), 1, 1000},
		{"limits.prompt_window", float64(l.PromptWindow), 1, 3600},
		{"limits.terminals", float64(l.Terminals), 1, 1000},
		{"limits.upload_mb", float64(l.UploadMB), 1, 1 << 20},
		{"bus.cluster_timeout", float64(c.Bus.ClusterTimeout), 1, 60},
		{"bus.stream_mb", float64(c.Bus.StreamMB), 16, 1 << 20},
	} {
		// Said this way round because nothing is less than NaN.
		if !(r.v >= r.low && r.v <= r.high) {
			return choir.RefuseField(r.key, choir.ReasonFieldRange, choir.TextOf("least", r.low), choir.TextOf("most", r.high), choir.TextOf("given", r.v))
		}
	}
	return nil
}

// checkModels returns an error with code invalid for the first wrong provider or role's model.
func (c Config) checkModels() error {
	names := map[string]bool{}
	for i, p := range c.Models.Providers {
		at := fmt.Sprintf("models.provider[%d]", i)
		switch {
		case p.Name == "" || strings.Contains(p.Name, "/"):
			return choir.RefuseField(at+".name", choir.ReasonConfigNotAName, choir.TextOf("given", p.Name))
		case names[p.Name]:
			return choir.RefuseField(at+".name", choir.ReasonConfigTwice, choir.TextOf("given", p.Name))
		case !slices.Contains([]string{"anthropic", "openai", "openai-responses", "bedrock"}, p.Kind):
			return choir.RefuseField(at+".kind", choir.ReasonFieldOneOf, choir.TextOf("names", "anthropic, openai, openai-responses, bedrock"), choir.TextOf("given", p.Kind))
		case p.NeedsKey() && !p.HasKey():
			return choir.RefuseField(at+".key_file", choir.ReasonConfigNoKey, choir.TextOf("name", p.Name))
		case p.KeyFile != "" && p.KeyEnv != "":
			return choir.RefuseField(at+".key_env", choir.ReasonConfigTwoKeys)
		}
		if err := checkBaseURL(at+".base_url", p); err != nil {
			return err
		}
		names[p.Name] = true
	}
	for _, m := range []struct{ key, value string }{{"models.director", c.Models.Director}, {"models.associate", c.Models.Associate}} {
		if m.value == "" {
			continue
		}
		if err := checkModel(m.key, m.value, names); err != nil {
			return err
		}
	}
	return c.checkRoles(names)
}

// checkModel returns an error unless value is provider/model of a known provider.
func checkModel(key, value string, providers map[string]bool) error {
	provider, name, ok := strings.Cut(value, "/")
	if !ok || name == "" || !providers[provider] {
		return choir.RefuseField(key, choir.ReasonConfigModel, choir.TextOf("given", value))
	}
	return nil
}

// checkRoles returns an error for the first role without a name or a model, given twice, or
// with a setting out of range.
func (c Config) checkRoles(providers map[string]bool) error {
	named := map[string]bool{}
	for i, r := range c.Models.Roles {
		at := fmt.Sprintf("models.role[%d]", i)
		_, some := c.Models.Role(r.Name)
		switch {
		case r.Name == "" || strings.Contains(r.Name, "/"):
			return choir.RefuseField(at+".role", choir.ReasonConfigNotAName, choir.TextOf("given", r.Name))
		case named[r.Name]:
			return choir.RefuseField(at+".role", choir.ReasonConfigTwice, choir.TextOf("given", r.Name))
		case !some:
			return choir.RefuseField(at+".models", choir.ReasonConfigNoModelFor, choir.TextOf("name", r.Name))
		case r.Effort != "" && !slices.Contains(model.Efforts, r.Effort):
			return choir.RefuseField(at+".effort", choir.ReasonFieldOneOf, choir.TextOf("names", strings.Join(model.Efforts, ", ")), choir.TextOf("given", r.Effort))
		case r.Temperature != nil && !(*r.Temperature >= 0 && *r.Temperature <= 2):
			return choir.RefuseField(at+".temperature", choir.ReasonFieldRange, choir.TextOf("least", "0"), choir.TextOf("most", "2"), choir.TextOf("given", *r.Temperature))
		}
		for n, m := range r.Models {
			if err := checkModel(fmt.Sprintf("%s.models[%d]", at, n), m, providers); err != nil {
				return err
			}
		}
		named[r.Name] = true
	}
	return nil
}

// checkPrices returns an error for a price without a model, given twice, or out of range.
func (c Config) checkPrices() error {
	named := map[string]bool{}
	for i, p := range c.Models.Prices {
		at := fmt.Sprintf("models.price[%d]", i)
		switch {
		case p.Model == "":
			return choir.RefuseField(at+".model", choir.ReasonConfigNoModel)
		case named[p.Model]:
			return choir.RefuseField(at+".model", choir.ReasonConfigTwice, choir.TextOf("given", p.Model))
		}
		named[p.Model] = true
		for _, f := range []struct {
			key   string
			value float64
		}{{"input", p.Input}, {"output", p.Output}, {"cache_read", p.CacheRead}, {"cache_write", p.CacheWrite}} {
			if !(f.value >= 0 && f.value <= choir.MaxCostUSD) {
				return choir.RefuseField(at+"."+f.key, choir.ReasonConfigPrice, choir.TextOf("most", choir.MaxCostUSD), choir.TextOf("given", f.value))
			}
		}
	}
	return nil
}

// checkTrace returns an error unless trace.endpoint is empty or an http address. The error
// does not repeat the text, which may hold a password.
func (c Config) checkTrace() error {
	if c.Trace.Endpoint == "" {
		return nil
	}
	u, err := url.Parse(c.Trace.Endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" {
		return choir.RefuseField("trace.endpoint", choir.ReasonConfigHTTP)
	}
	return nil
}

// The range of computers.hibernate_after and freeze_after, besides 0.
const (
	minIdle = time.Second
	maxIdle = 366 * 24 * time.Hour
)

// checkHibernation returns an error unless computers.hibernate_after and freeze_after are 0 or a
// time in their range.
func (c Config) checkHibernation() error {
	for _, f := range []struct{ key, given string }{
		{"computers.hibernate_after", c.Computers.HibernateAfter}, {"computers.freeze_after", c.Computers.FreezeAfter},
	} {
		d, err := time.ParseDuration(f.given)
		if err != nil || d != 0 && (d < minIdle || d > maxIdle) {
			return choir.RefuseField(f.key, choir.ReasonConfigIdle, choir.TextOf("given", f.given))
		}
	}
	return nil
}

// checkRemote returns an error unless git.remote_template is empty or gives addresses of
// repositories.
func (c Config) checkRemote() error {
	template := c.Git.RemoteTemplate
	if template == "" {
		return nil
	}
	filled := strings.NewReplacer("{project}", "p", "{computer}", "c", "{origin}", "https://example.com/o").Replace(template)
	if _, ok := egress.ReadAddress(filled); !ok {
		return choir.RefuseField("git.remote_template", choir.ReasonConfigRemote, choir.TextOf("project", "{project}"), choir.TextOf("origin", "{origin}"), choir.TextOf("given", egress.ShownAddress(template)))
	}
	return nil
}

// checkEgress returns an error unless [egress] is a policy.
func (c Config) checkEgress() error {
	_, err := c.Egress.Policy()
	return err
}

// checkApprove returns an error unless each [[approve]] is a rule.
func (c Config) checkApprove() error {
	_, err := c.Policy()
	return err
}

// IsUnencrypted reports whether what is sent to an address leaves this machine unencrypted.
func IsUnencrypted(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Scheme == "http" && !isHere(u.Hostname())
}

// checkBaseURL returns an error unless a provider's address is empty or valid, and does not
// send a key unencrypted over the network.
func checkBaseURL(at string, p Provider) error {
	if p.BaseURL == "" {
		return nil
	}
	u, err := url.Parse(p.BaseURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return choir.RefuseField(at, choir.ReasonConfigBaseURL, choir.TextOf("given", p.BaseURL))
	}
	if IsUnencrypted(p.BaseURL) && p.HasKey() {
		return choir.RefuseField(at, choir.ReasonConfigKeyUnencrypted, choir.TextOf("given", p.BaseURL))
	}
	return nil
}
