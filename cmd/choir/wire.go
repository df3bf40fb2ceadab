package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"choiros/internal/blob"
	"choiros/internal/blob/fs"
	"choiros/internal/bus"
	"choiros/internal/bus/cluster"
	"choiros/internal/bus/hub"
	"choiros/internal/choir"
	"choiros/internal/config"
	"choiros/internal/control/auth"
	"choiros/internal/control/auth/linklogin"
	"choiros/internal/control/egress"
	"choiros/internal/control/modelgw"
	"choiros/internal/control/supervisor"
	"choiros/internal/demo"
	"choiros/internal/desktop"
	keyvault "choiros/internal/keyring/vault"
	"choiros/internal/logbook"
	"choiros/internal/model/replay"
	"choiros/internal/replica"
	"choiros/internal/webui"
)

// loadConfig returns the configuration and the path of its file, see config.Load.
// The policy for hosts outside that the owner chose in the shell is in it.
func (a *app) loadConfig() (config.Config, string, error) {
	file, from, err := config.Load(a.config, filepath.Join(a.data, "choir.toml"), "/etc/choir/config.toml")
	if err != nil {
		return file, from, err
	}
	chosen, err := config.LoadNetwork(a.data)
	if err == nil {
		file, err = file.WithNetwork(chosen)
	}
	return file, from, err
}

// host returns the folders of this machine that toolchains must not expose.
func (a *app) host() (config.Host, error) {
	homes, err := config.HomesOf("/etc/passwd")
	if home := a.env("HOME"); home != "" {
		homes = append(homes, home)
	}
	return config.Host{Data: a.data, Homes: homes}, err
}

// systemConfig returns the control plane's configuration with all its parts.
func (a *app) systemConfig() (supervisor.Config, error) {
	file, from, err := a.loadConfig()
	if err != nil {
		return supervisor.Config{}, err
	}
	host, err := a.host()
	if err != nil {
		return supervisor.Config{}, err
	}
	if err := file.CheckToolchains(host); err != nil {
		return supervisor.Config{}, choir.Under(filepath.Base(from), err)
	}
	models, err := a.connections(file.Models)
	if err != nil {
		return supervisor.Config{}, err
	}
	tar, err := demo.Tar()
	if err != nil {
		return supervisor.Config{}, err
	}
	return supervisor.Config{
		Data: a.data, File: file, From: from,
		OpenBlobs: openBlobs, StartBus: startBus(file, nil), OpenAuth: openAuth, Cluster: clusterOf(file, nil), Connections: models,
		Vault:   keyvault.New(filepath.Join(a.data, "keys", "vault"), now),
		Outside: egress.Internet(), Registries: egress.Registries(), Reread: a.loadConfig,
		Desktop: a.desktop(),
		Demo: supervisor.DemoConfig{
			Name: demo.Name, Prompt: demo.Prompt, At: demo.Stamp(), Recording: demo.Recording(), Repo: tar, Play: play,
		},
		Version: version, Boot: boot(), Now: now, Random: rand.Reader,
		Log: logbook.New(a.err, io.Discard),
	}, nil
}

// desktop returns the desktop's source and packages that this build carries.
func (a *app) desktop() supervisor.DesktopConfig {
	c := supervisor.DesktopConfig{Source: webui.DesktopSource()}
	if digest, packages, tools := webui.DesktopModules(); digest != "" {
		c.Modules = desktop.NewModules(filepath.Join(a.data, "sandbox"), digest[:16], packages, tools)
	}
	return c
}

// boot returns the kernel's id of the current boot, "" if unknown.
func boot() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
}

// clusterOf returns the cluster that stores second copies of the logs; nil if
// storage.durability is not "replicated". log may be nil.
func clusterOf(file config.Config, log *slog.Logger) replica.Cluster {
	if file.Storage.Durability != "replicated" {
		return nil
	}
	b := file.Bus
	c := cluster.Config{Servers: b.Cluster, Credentials: b.ClusterCredentials, Timeout: time.Duration(b.ClusterTimeout) * time.Second}
	if log != nil {
		c.Log = log.Warn
	}
	return c
}

// startBus returns what starts the embedded bus, whose warnings go to log, or nowhere if it
// is nil.
func startBus(file config.Config, log *slog.Logger) func(context.Context, supervisor.BusFolders) (bus.Server, error) {
	return func(ctx context.Context, at supervisor.BusFolders) (bus.Server, error) {
		return hub.Start(ctx, hub.Config{Dir: at.Dir, Keys: at.Keys, StoreMax: file.Bus.StreamMB << 20, Log: log})
	}
}

func openAuth(dir string, owner choir.ID) (auth.Authority, error) {
	return linklogin.OpenFolder(dir, owner, now)
}

func openBlobs(dir string) (blob.Store, error) { return fs.Open(dir) }

// play returns routes that answer for both models from a recording; with wait, at a reader's pace.
func play(recording []byte, wait supervisor.Wait) (map[string]modelgw.Route, error) {
	rec, err := replay.Load(bytes.NewReader(recording))
	if err != nil {
		return nil, err
	}
	player := replay.New(rec)
	if wait != nil {
		player = replay.Paced(rec, wait)
	}
	routes := map[string]modelgw.Route{}
	for _, alias := range []string{modelgw.AliasDirector, modelgw.AliasAssociate} {
		routes[alias] = modelgw.Route{Provider: player, Model: rec.Model(alias), Free: true}
	}
	return routes, nil
}
