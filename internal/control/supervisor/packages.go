package supervisor

import (
	"path/filepath"

	"choiros/internal/control/egress"
	"choiros/internal/packages"
)

// packagesFolder is the folder of the package cache in the data folder.
const packagesFolder = "packages"

// packageCache is the cache of all computers, and how it asks registries. Both are nil where there
// is none.
type packageCache struct {
	*packages.Cache
	client *egress.RegistryClient
}

// openPackages opens the package cache if the settings have room for it. Without it installations
// go on, so that its error is told in the log of choir only.
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
		return
	}
	s.packages = packageCache{Cache: cache, client: client}
}

// close ends the fetches of the cache and the connections to registries.
func (p packageCache) close() {
	if p.Cache != nil {
		p.Cache.Close()
		p.client.Close()
	}
}
