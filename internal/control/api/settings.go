package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"choiros/internal/choir"
	"choiros/internal/config"
)

// Settings are the owner's settings in force outside of a computer: those of choir.toml,
// read at start, and those of the shell's page. They contain no key.
type Settings struct {
	File      string           `json:"file" doc:"The configuration file: the one that was read, else the one to write."`
	Found     bool             `json:"found" doc:"The file was there when choir started."`
	Models    ModelState       `json:"models"`
	Roles     []ModelRole      `json:"roles" doc:"The models of each role that has one, the Director's and the Associate's first."`
	Providers []ModelProvider  `json:"providers" doc:"The model services: what was connected on the page, then those of the file, in its order."`
	Known     []KnownModel     `json:"known" doc:"Models whose list price choir knows."`
	Limits    []config.Setting `json:"limits" doc:"The limits in force, and where each is from."`

	Phrase       string `json:"phrase,omitempty" doc:"The phrase by which the owner recognizes the shell's pages, which no page of a sandbox can read; empty when none was chosen."`
	EgressInFile bool   `json:"egress_in_file,omitempty" doc:"The configuration file gives egress.mode, so that it cannot be chosen here."`
}

// ModelRole is a role with its models in force and their settings.
type ModelRole struct {
	Role        string   `json:"role" doc:"director, associate, tool (programs in the sandbox), or a name that programs ask for."`
	Models      []string `json:"models" doc:"As provider/model, in order of preference: the next is called where one fails or cannot be reached."`
	Effort      string   `json:"effort,omitempty" doc:"How long they think."`
	Temperature *float64 `json:"temperature,omitempty"`
}

// KnownModel is a model whose list price choir knows.
type KnownModel struct {
	Model  string  `json:"model"`
	Input  float64 `json:"input" doc:"US dollars per million input tokens."`
	Output float64 `json:"output" doc:"US dollars per million output tokens."`
}

// ModelProvider is one model service with its connection and uses.
type ModelProvider struct {
	Name    string   `json:"name"`
	Kind    string   `json:"kind" doc:"anthropic, openai (any compatible endpoint) or bedrock."`
	Address string   `json:"address,omitempty" doc:"Its address; empty for the provider's own."`
	Region  string   `json:"region,omitempty"`
	Set     string   `json:"set" enum:"page,file" doc:"Where it is set: on the shell's page, or in the configuration file."`
	Uses    []string `json:"uses" enum:"director,associate" doc:"Whose model it is now."`
	Key     ModelKey `json:"key"`
}

// ModelKey is the location of a model service's key and whether the key can be used,
// without the key itself.
type ModelKey struct {
	Kind    string     `json:"kind" enum:"file,variable,kept,none" doc:"Where it is kept: in a file or a variable of yours, by choir; none for a service that needs none."`
	Where   string     `json:"where,omitempty" doc:"The path of the file, or the name of the variable."`
	Present bool       `json:"present" doc:"It can be used now."`
	SetAt   choir.Time `json:"set_at,omitzero" doc:"When the file was written last."`
	Problem string     `json:"problem,omitempty" doc:"Why it cannot be used."`
	Remedy  string     `json:"remedy,omitempty" doc:"What to do about it."`
}

// PhraseRequest is the request to set the phrase by which the owner recognizes the shell.
type PhraseRequest struct {
	Phrase string `json:"phrase" maxLength:"240" doc:"At most 60 characters that can be seen; empty for none."`
}

// ConnectRequest is the request to connect a model service, or to change the connection
// of the same name.
type ConnectRequest struct {
	Name    string   `json:"name" minLength:"1" maxLength:"64" doc:"Name of the connection: lower-case letters, digits, dots and hyphens."`
	Kind    string   `json:"kind" enum:"anthropic,openai,bedrock"`
	Address string   `json:"address,omitempty" maxLength:"500" doc:"Address; empty for the provider's own."`
	Region  string   `json:"region,omitempty" maxLength:"64" doc:"For bedrock."`
	Key     string   `json:"key,omitempty" maxLength:"8192" doc:"The key. It is kept and never given back. Empty keeps the one that is there, as long as kind, address and region stay, and for a service that needs none."`
	Model   string   `json:"model" minLength:"1" maxLength:"200" doc:"The provider's name of the model."`
	Uses    []string `json:"uses,omitempty" enum:"director,associate" doc:"Whose model it becomes; both when nothing is said."`
	// Price is required if the price of the model is not known.
	Price    *ModelPrice `json:"price,omitempty"`
	Free     bool        `json:"free,omitempty" doc:"Its models cost nothing, such as those on a machine of your own."`
	Untested bool        `json:"untested,omitempty" doc:"Connect it without calling it."`
	Computer choir.ID    `json:"computer,omitempty" doc:"Whose log has what the test costs; the first computer when nothing is said."`
}

// ModelPrice is a model's price in US dollars per million tokens.
type ModelPrice struct {
	Input  float64 `json:"input" minimum:"0" maximum:"1000000"`
	Output float64 `json:"output" minimum:"0" maximum:"1000000"`
}

// Connected is the result of connecting a model service, with the cost of the test.
type Connected struct {
	Model        string   `json:"model" doc:"The model that answered; empty when nothing was tested."`
	DurationMS   int64    `json:"duration_ms" doc:"How long its answer to the test took."`
	InputTokens  int64    `json:"input_tokens"`
	OutputTokens int64    `json:"output_tokens"`
	CostUSD      float64  `json:"cost_usd" doc:"What the test cost."`
	Settings     Settings `json:"settings" doc:"As they are in force now."`
}

// TestModelsRequest is the request to ask each model in force one question.
type TestModelsRequest struct {
	Model    string   `json:"model,omitempty" maxLength:"265" doc:"Only this one, as provider/model; all when nothing is said."`
	Computer choir.ID `json:"computer,omitempty" doc:"Whose log has what the test costs; the first computer when nothing is said."`
}

// TestedModels lists the results of the models in force.
type TestedModels struct {
	Models []TestedModel `json:"models"`
}

// TestedModel lists the abilities that one model showed in its answer to one question.
type TestedModel struct {
	Model        string     `json:"model" doc:"As provider/model."`
	Roles        []string   `json:"roles" doc:"Who calls it."`
	Code         choir.Code `json:"code,omitempty" doc:"Stable reason why it did not answer."`
	Error        string     `json:"error,omitempty" doc:"Why it did not answer."`
	Remedy       string     `json:"remedy,omitempty" doc:"What to do about it."`
	Tools        bool       `json:"tools" doc:"It called a tool."`
	Streaming    bool       `json:"streaming" doc:"Its answer came in pieces."`
	Images       bool       `json:"images" doc:"It saw an image."`
	Thinking     bool       `json:"thinking" doc:"It told what it thought."`
	LeftOut      []string   `json:"left_out,omitempty" doc:"Parameters that its service refuses."`
	DurationMS   int64      `json:"duration_ms" doc:"How long its answer took."`
	InputTokens  int64      `json:"input_tokens"`
	OutputTokens int64      `json:"output_tokens"`
	CostUSD      float64    `json:"cost_usd" doc:"What the test cost."`
}

// At most connectBurst changes of connections within connectSpan: otherwise a page could
// try addresses and see which answer.
const (
	connectBurst = 12
	connectSpan  = time.Minute
)

func (a *API) settings(h huma.API) {
	huma.Register(h, op("getSettings", http.MethodGet, "/api/settings", "Show models, where their keys are, and limits", 200),
		func(context.Context, *struct{}) (*body[Settings], error) { return answer(a.sys.Settings(), nil) })
	huma.Register(h, op("choosePhrase", http.MethodPut, "/api/settings/phrase", "Set the phrase by which the owner recognizes the shell", 200),
		func(ctx context.Context, r *struct{ Body PhraseRequest }) (*body[Settings], error) {
			return answer(a.sys.ChoosePhrase(ctx, r.Body.Phrase))
		})
	huma.Register(h, op("connectModel", http.MethodPost, "/api/settings/models", "Test a model service and connect it", 200),
		func(ctx context.Context, r *struct{ Body ConnectRequest }) (*body[Connected], error) {
			if err := a.mayConnect(); err != nil {
				return nil, err
			}
			return answer(a.sys.Connect(ctx, r.Body))
		})
	huma.Register(h, op("testModels", http.MethodPost, "/api/settings/models/test", "Ask each model in force one question, and say what works", 200),
		func(ctx context.Context, r *struct{ Body TestModelsRequest }) (*body[TestedModels], error) {
			if err := a.mayConnect(); err != nil {
				return nil, err
			}
			return answer(a.sys.TestModels(ctx, r.Body))
		})
	huma.Register(h, op("disconnectModel", http.MethodDelete, "/api/settings/models/{name}", "Remove a model service that was connected on the page, and its key", 200),
		func(ctx context.Context, r *struct {
			Name string `path:"name"`
		}) (*body[Settings], error) {
			if err := a.mayConnect(); err != nil {
				return nil, err
			}
			return answer(a.sys.Disconnect(ctx, r.Name))
		})
}

// mayConnect counts a change of connections and returns nil. Code rate_limited:
// connectBurst were counted within connectSpan.
func (a *API) mayConnect() error {
	if wait := a.connects.allow(""); wait > 0 {
		return tooOften(wait, "api.settings", choir.ReasonTooManyConnects, connectBurst, connectSpan)
	}
	return nil
}
