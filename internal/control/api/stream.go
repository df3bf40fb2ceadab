package api

import (
	"maps"
	"reflect"
	"regexp"
	"slices"

	"github.com/danielgtaylor/huma/v2"
)

// stream describes an operation that bypasses huma, for the OpenAPI document.
type stream struct {
	id, method, path, summary string
	query, headers            map[string]string // descriptions by name
	takes                     string            // content type of the body, or empty
	status, gives             string
	answers                   reflect.Type // of an answer in JSON
}

var pathParam = regexp.MustCompile(`\{(\w+)(\.\.\.)?\}`)

// describe adds the operation to the OpenAPI document.
func (s stream) describe(doc *huma.OpenAPI) {
	o := &huma.Operation{
		OperationID: s.id, Method: s.method, Summary: s.summary, Path: pathParam.ReplaceAllString(s.path, "{$1}"),
		Responses: map[string]*huma.Response{s.status: {Description: "Done"}, "default": {Description: "Error", Content: map[string]*huma.MediaType{
			"application/problem+json": {Schema: &huma.Schema{Ref: "#/components/schemas/Problem"}},
		}}},
	}
	if s.gives != "" {
		o.Responses[s.status].Content = map[string]*huma.MediaType{s.gives: {}}
	}
	if s.answers != nil {
		o.Responses[s.status].Content = jsonOf(doc, s.answers)
	}
	if s.takes != "" {
		o.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{s.takes: {}}}
	}
	for _, m := range pathParam.FindAllStringSubmatch(s.path, -1) {
		o.Parameters = append(o.Parameters, param(m[1], "path", ""))
	}
	for _, name := range slices.Sorted(maps.Keys(s.query)) {
		o.Parameters = append(o.Parameters, param(name, "query", s.query[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(s.headers)) {
		o.Parameters = append(o.Parameters, param(name, "header", s.headers[name]))
	}
	doc.AddOperation(o)
}

// jsonOf returns the OpenAPI description of a JSON body of a Go type.
func jsonOf(doc *huma.OpenAPI, t reflect.Type) map[string]*huma.MediaType {
	return map[string]*huma.MediaType{"application/json": {Schema: doc.Components.Schemas.Schema(t, true, "")}}
}

// param returns the OpenAPI description of a text parameter.
func param(name, in, words string) *huma.Param {
	return &huma.Param{Name: name, In: in, Required: in == "path", Description: words, Schema: &huma.Schema{Type: huma.TypeString}}
}
