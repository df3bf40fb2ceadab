package config

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/pelletier/go-toml/v2"

	"choiros/internal/choir"
	"choiros/internal/control/egress"
	"choiros/internal/names"
)

// NetworkFile is the name of the file in the data folder with the policy for hosts outside
// that the owner chose on the shell's page. choir writes it; choir never writes choir.toml.
const NetworkFile = "network.toml"

// Network is the policy that the owner chose. Each key is in force while choir.toml does not give
// it, as egress.mode and egress.without.
type Network struct {
	Mode string `toml:"mode,omitempty"`
	// Without are hosts of the list of git+pkg that the owner took away.
	Without []string `toml:"without,omitempty"`
}

// networkHead is the comment at the beginning of the file.
const networkHead = "# Written by choir: the policy for hosts outside that was chosen on the page " + names.Models + ". A key is\n" +
	"# in force while [egress] of choir.toml does not give it. Change it there, or with: choir egress\n\n"

// Encode returns the file's content.
func (n Network) Encode() ([]byte, error) {
	raw, err := toml.Marshal(n)
	return append([]byte(networkHead), raw...), choir.Wrap("config.network", choir.CodeInternal, err, "encode %s", NetworkFile)
}

// LoadNetwork reads the file in a data folder. A missing file is the zero value.
func LoadNetwork(data string) (Network, error) {
	path := filepath.Join(data, NetworkFile)
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Network{}, nil
	}
	if err != nil {
		return Network{}, choir.Wrap("config.network", choir.CodeUnavailable, err, "read the chosen policy for hosts outside")
	}
	var n Network
	dec := toml.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&n); err != nil {
		return Network{}, choir.Under(path, refusal(err))
	}
	return n, nil
}

// GivesEgressMode reports whether the file gives egress.mode.
func (c Config) GivesEgressMode() bool { return c.given["egress.mode"] }

// GivesEgressWithout reports whether the file gives egress.without.
func (c Config) GivesEgressWithout() bool { return c.given["egress.without"] }

// WithReloaded returns the configuration with what a reload of another one puts in force: [egress]
// but for the package cache, and [[approve]].
func (c Config) WithReloaded(r Config) Config {
	r.Egress.PackageCacheMB = c.Egress.PackageCacheMB
	c.Egress, c.Approve, c.chosen = r.Egress, r.Approve, r.chosen
	given := map[string]bool{}
	maps.Copy(given, c.given)
	for _, key := range []string{"egress.mode", "egress.without", "egress.allowlist", "approve"} {
		given[key] = r.given[key]
	}
	c.given = given
	return c
}

// WithNetwork returns the configuration with the policy that the owner chose, unless the
// file gives one. Code invalid: the chosen one is no policy.
func (c Config) WithNetwork(n Network) (Config, error) {
	c.chosen = map[string]bool{}
	if n.Mode != "" && !c.GivesEgressMode() {
		c.Egress.Mode, c.chosen["egress.mode"] = n.Mode, true
	}
	if !c.GivesEgressWithout() {
		// Hosts that only the list of another version has are let out by none.
		c.Egress.Without = slices.DeleteFunc(slices.Clone(n.Without), func(host string) bool { return !egress.IsListed(host) })
		c.chosen["egress.without"] = len(n.Without) > 0
	}
	return c, choir.Under(NetworkFile, c.checkEgress())
}
