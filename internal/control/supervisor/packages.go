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

// openPackages opens the package cache if the settings have room for it. Without it installations
// go on, so that an error is told by the doctor and in the log of choir only.
func (s *System) openPackages() {
	limit := int64(s.cfg.File.Egress.PackageCacheMB) << 20
	if limit == 0 {
		return
	}
	client := egress.NewRegistryClient(s.cfg.Outside, egress.DefaultLimits())
	cache, err := packages.Open(packages.Config{
		Dir: filepath.Join(s.cfg.Data, packagesFolder), Limit: limit, Registries: s.cfg.Registries, From: client, Now: s.cfg.Now,
	})
	if err != nil {
		s.cfg.Log.Warn("egress: there is no package cache", "error", err)
		s.packages.failed = err
		return
	}
	s.packages = packageCache{Cache: cache, client: client}
}

// packageChecks returns the check that tells what the package cache holds; none without one.
func (s *System) packageChecks() []sandbox.Check {
	check := sandbox.Check{Name: "package cache", OK: s.packages.failed == nil}
	switch {
	case s.packages.failed != nil:
		check.Detail = s.packages.failed.Error()
		check.Remedy = "look at the folder, and start choir again"
	case s.packages.Cache != nil:
		items, bytes, limit := s.packages.Usage()
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
