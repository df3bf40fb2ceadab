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

// ConnectedFile is the name of the file in the data folder that holds what the
// owner connected on the shell's page. choir writes it; choir.toml is never
// written.
const ConnectedFile = "models.toml"

// Connected is what the owner connected on the shell's page. It is in force
// where it names a model, and choir.toml's [models] elsewhere.
type Connected struct {
	Director  string    `toml:"director,omitempty"`
	Associate string    `toml:"associate,omitempty"`
	Services  []Service `toml:"provider,omitempty"`
	Prices    []Price   `toml:"price,omitempty"`
}

// Service is one model service that was connected. Its key lies in the keyring,
// under its name.
type Service struct {
	Name    string `toml:"name"`
	Kind    string `toml:"kind"`
	BaseURL string `toml:"base_url,omitempty"`
	Region  string `toml:"region,omitempty"`
	Free    bool   `toml:"free,omitempty"`
	Keyless bool   `toml:"keyless,omitempty"`
}

// Provider is the service as choir.toml would say it.
func (s Service) Provider() Provider {
	return Provider{Name: s.Name, Kind: s.Kind, BaseURL: s.BaseURL, Region: s.Region, Free: s.Free, OnPage: true, Kept: !s.Keyless}
}

// Models are the connected services as choir.toml would say them.
func (c Connected) Models() Models {
	m := Models{Director: c.Director, Associate: c.Associate, Prices: c.Prices}
	for _, s := range c.Services {
		m.Providers = append(m.Providers, s.Provider())
	}
	return m
}

// Check refuses what choir.toml could not say either.
func (c Connected) Check() error {
	whole := Default()
	whole.Models = c.Models()
	return whole.Check()
}

// Service finds a connected service by its name.
func (c Connected) Service(name string) (Service, bool) {
	i := slices.IndexFunc(c.Services, func(s Service) bool { return s.Name == name })
	if i < 0 {
		return Service{}, false
	}
	return c.Services[i], true
}

// connectedHead stands at the beginning of the file.
const connectedHead = "# Written by choir: what was connected on the page " + names.Models + ". While it names a model,\n" +
	"# that one is in force, and [models] of choir.toml is not. Change it there. It holds no key.\n\n"

// Encode writes the file's content.
func (c Connected) Encode() ([]byte, error) {
	raw, err := toml.Marshal(c)
	return append([]byte(connectedHead), raw...), choir.Wrap("config.connected", choir.CodeInternal, err, "encode %s", ConnectedFile)
}

// LoadConnected reads the file from the data folder, and checks it as choir.toml
// is checked; what is not there connects nothing.
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

// ParseConnected reads the file's content.
func ParseConnected(raw []byte) (Connected, error) {
	var c Connected
	dec := toml.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&c); err != nil {
		return Connected{}, refusal(err)
	}
	return c, c.Check()
}
