package config

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/pelletier/go-toml/v2"

	"choiros/internal/choir"
	"choiros/internal/names"
)

// ConnectedFile is the name of the file in the data folder with the models that the owner
// connected on the shell's page. choir writes it; choir never writes choir.toml.
const ConnectedFile = "models.toml"

// Connected holds the models that the owner connected on the shell's page. For a role it
// names a model for, it overrides [models] in choir.toml.
type Connected struct {
	Director  string    `toml:"director,omitempty"`
	Associate string    `toml:"associate,omitempty"`
	Services  []Service `toml:"provider,omitempty"`
	Prices    []Price   `toml:"price,omitempty"`
}

// Service is a connected model service. Its key is in the keyring, under its name.
type Service struct {
	Name    string `toml:"name"`
	Kind    string `toml:"kind"`
	BaseURL string `toml:"base_url,omitempty"`
	Region  string `toml:"region,omitempty"`
	Free    bool   `toml:"free,omitempty"`
	Keyless bool   `toml:"keyless,omitempty"`
}

// Provider returns the service as a provider of choir.toml.
func (s Service) Provider() Provider {
	return Provider{Name: s.Name, Kind: s.Kind, BaseURL: s.BaseURL, Region: s.Region, Free: s.Free, OnPage: true, Kept: !s.Keyless}
}

// Models returns the connected models in the form of choir.toml.
func (c Connected) Models() Models {
	m := Models{Director: c.Director, Associate: c.Associate, Prices: c.Prices}
	for _, s := range c.Services {
		m.Providers = append(m.Providers, s.Provider())
	}
	return m
}

// Check returns the errors of Config.Check for the connected models.
func (c Connected) Check() error {
	whole := Default()
	whole.Models = c.Models()
	return whole.Check()
}

// Service returns the connected service with a name; false if there is none.
func (c Connected) Service(name string) (Service, bool) {
	i := slices.IndexFunc(c.Services, func(s Service) bool { return s.Name == name })
	if i < 0 {
		return Service{}, false
	}
	return c.Services[i], true
}

// connectedHead is the comment at the beginning of the file.
const connectedHead = "# Written by choir: what was connected on the page " + names.Models + ". While it names a model,\n" +
	"# that one is in force, and [models] of choir.toml is not. Change it there. It holds no key.\n\n"

// Encode returns the file's content.
func (c Connected) Encode() ([]byte, error) {
	raw, err := toml.Marshal(c)
	return append([]byte(connectedHead), raw...), choir.Wrap("config.connected", choir.CodeInternal, err, "encode %s", ConnectedFile)
}

// LoadConnected reads and checks the file in the data folder. Without a file it returns the
// zero value.
func LoadConnected(data string) (Connected, error) {
	path := filepath.Join(data, ConnectedFile)
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) { // who opens the folder says what is wrong with it
		return Connected{}, nil
	}
	if err != nil {
		return Connected{}, choir.Wrap("config.connected", choir.CodeUnavailable, err, "read what was connected")
	}
	c, err := ParseConnected(raw)
	if err != nil {
		return c, choir.Under(path, err)
	}
	return c, nil
}

// ParseConnected decodes and checks the file's content.
func ParseConnected(raw []byte) (Connected, error) {
	var c Connected
	dec := toml.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&c); err != nil {
		return Connected{}, refusal(err)
	}
	return c, c.Check()
}
