package supervisor

import (
	"fmt"
	"path/filepath"

	"choiros/internal/control/egress"
	"choiros/internal/packages"
	"choiros/internal/sandbox"
)

// packagesFolder is the folder of the package cache in the data folder.
const packagesFolder = "packages"

// packageCache is the cache of all computers, and how it asks registries. Both are nil where there
// is none.
type packageCache struct {
	*packages.Cache
	client *egress.RegistryClient
	failed error // to open it
}

// openPackages opens the package cache if the settings have room for it, and else removes what was
// kept with another setting. Without it installations go on, so that an error is told by the doctor
// and in the log of choir only.
func openPackages(cfg *Config) packageCache {
	dir := filepath.Join(cfg.Data, packagesFolder)
	limit := int64(cfg.File.Egress.PackageCacheMB) << 20
	if limit == 0 {
		if err := packages.Clear(dir); err != nil {
			cfg.Log.Warn("egress: the package cache that is not used any more is still there", "path", dir, "error", err)
		}
		return packageCache{}
	}
	client := egress.NewRegistryClient(cfg.Outside, egress.DefaultLimits())
	cache, err := packages.Open(packages.Config{
		Dir: dir, Limit: limit, Registries: cfg.Registries, From: client, Now: cfg.Now,
	})
	if err != nil {
		cfg.Log.Warn("egress: there is no package cache", "error", err)
		return packageCache{failed: err}
	}
	return packageCache{Cache: cache, client: client}
}

// checks returns the check that tells what the package cache holds; none without one.
func (p packageCache) checks() []sandbox.Check {
	check := sandbox.Check{Name: "package cache", OK: p.failed == nil}
	switch {
	case p.failed != nil:
		check.Detail = p.failed.Error()
		check.Remedy = "look at the folder, and start choir again"
	case p.Cache != nil:
		items, bytes, limit := p.Usage()
		check.Detail = fmt.Sprintf("%d packages of %.1f MB, of at most %d MB, for all computers (egress.package_cache_mb)", items, float64(bytes)/(1<<20), limit>>20)
	default:
		return nil
	}
	return []sandbox.Check{check}
}

// registryHosts returns the hosts of registries.
func registryHosts(all []packages.Registry) (hosts []string) {
	for _, r := range all {
		hosts = append(hosts, r.Hosts()...)
	}
	return hosts
}

// close ends the fetches of the cache and the connections to registries.
func (p packageCache) close() {
	if p.Cache != nil {
		p.Cache.Close()
		p.client.Close()
	}
}
