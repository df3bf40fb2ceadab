package config

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pelletier/go-toml/v2"

	"choiros/internal/choir"
	"choiros/internal/names"
)

// NetworkFile is the name of the file in the data folder with the policy for hosts outside
// that the owner chose on the shell's page. choir writes it; choir never writes choir.toml.
const NetworkFile = "network.toml"

// Network is the policy that the owner chose. It is in force while choir.toml gives no
// egress.mode.
type Network struct {
	Mode string `toml:"mode"`
}

// networkHead is the comment at the beginning of the file.
const networkHead = "# Written by choir: the policy for hosts outside that was chosen on the page " + names.Models + ". It is in\n" +
	"# force while choir.toml gives no egress.mode. Change it there, or with: choir egress mode\n\n"

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

// WithNetwork returns the configuration with the policy that the owner chose, unless the
// file gives one. Code invalid: the chosen one is no policy.
func (c Config) WithNetwork(n Network) (Config, error) {
	if n.Mode == "" || c.GivesEgressMode() {
		return c, nil
	}
	c.Egress.Mode = n.Mode
	c.chosen = map[string]bool{"egress.mode": true}
	return c, choir.Under(NetworkFile, c.checkEgress())
}
