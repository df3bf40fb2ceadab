package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"choiros/internal/choir"
	"choiros/internal/config"
)

// Settings are what the owner has set outside of a computer, as it is in force.
// They are read when choir starts, from one file; no key is among them.
type Settings struct {
	File      string           `json:"file" doc:"The configuration file: the one that was read, else the one to write."`
	Found     bool             `json:"found" doc:"The file was there when choir started."`
	Models    ModelState       `json:"models"`
	Providers []ModelProvider  `json:"providers" doc:"The model services, in the order of the file."`
	Limits    []config.Setting `json:"limits" doc:"The limits in force, and where each is from."`
}

// ModelProvider is one model service.
type ModelProvider struct {
	Name    string   `json:"name"`
	Kind    string   `json:"kind" doc:"anthropic, openai (any compatible endpoint) or bedrock."`
	Address string   `json:"address,omitempty" doc:"Its address; empty for the provider's own."`
	Region  string   `json:"region,omitempty"`
	Key     ModelKey `json:"key"`
}

// ModelKey says where the key of a model service is and whether it is there,
// never what it is.
type ModelKey struct {
	Kind    string     `json:"kind" enum:"file,variable,none" doc:"Where it is kept; none for a service that needs none."`
	Where   string     `json:"where,omitempty" doc:"The path of the file, or the name of the variable."`
	Present bool       `json:"present" doc:"It can be used now."`
	SetAt   choir.Time `json:"set_at,omitzero" doc:"When the file was written last."`
	Problem string     `json:"problem,omitempty" doc:"Why it cannot be used."`
	Remedy  string     `json:"remedy,omitempty" doc:"What to do about it."`
}

func (a *API) settings(h huma.API) {
	huma.Register(h, op("getSettings", http.MethodGet, "/api/settings", "Show models, where their keys are, and limits", 200),
		func(context.Context, *struct{}) (*body[Settings], error) { return answer(a.sys.Settings(), nil) })
}
