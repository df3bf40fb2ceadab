package supervisor

import (
	"path/filepath"
	"slices"
	"testing"

	"choiros/internal/config"
	"choiros/internal/control/api"
	"choiros/internal/control/connections"
	"choiros/internal/keyring/files"
	"choiros/internal/model"
)

func TestSettingsSayWhatIsInForceAndWhereItIsSet(t *testing.T) {
	t.Parallel()
	file, err := config.Parse([]byte("[limits]\nrun_tasks = 7\n[models]\ndirector = \"a/m\"\nassociate = \"a/m\"\n[[models.provider]]\nname = \"a\"\nkind = \"openai\"\nbase_url = \"http://localhost:1\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	cfg := Config{Data: data, File: file, From: "/etc/choir.toml", Connections: connected(t, data, file.Models)}
	got := settingsOf(cfg)
	if len(got.Providers) != 1 || got.Providers[0].Address != "http://localhost:1" || got.Providers[0].Key.Where != "a" || got.File != "/etc/choir.toml" || !got.Found {
		t.Errorf("%+v", got)
	}
	if p := got.Providers[0]; p.Set != "file" || !slices.Equal(p.Uses, []string{"director", "associate"}) {
		t.Errorf("%+v", p)
	}
	from := map[string]config.Setting{}
	for _, l := range got.Limits {
		from[l.Key] = l
	}
	if l := from["limits.run_tasks"]; l.Value != "7" || l.From != "/etc/choir.toml" {
		t.Errorf("what the file sets: %+v", l)
	}
	if l := from["limits.processes"]; l.Value != "1024" || l.From != "default" || l.Doc == "" {
		t.Errorf("what it does not: %+v", l)
	}
	if none := settingsOf(Config{Data: data, File: config.Default(), Connections: connected(t, data, config.Models{})}); none.File != filepath.Join(data, "choir.toml") || none.Found || none.Providers == nil {
		t.Errorf("without a file: %+v", none)
	}
}

// connected are the models of a configuration, whose services are never called.
func connected(t *testing.T, data string, m config.Models) *connections.Connections {
	t.Helper()
	c, err := connections.Open(connections.Config{
		Data: data, File: m, Keys: files.New(data),
		Key:      func(p config.Provider) api.ModelKey { return api.ModelKey{Kind: "none", Where: p.Name} },
		Source:   func(config.Provider) model.KeySource { return nil },
		Provider: func(config.Provider, model.KeySource) (model.Provider, error) { return nil, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}
