// Package firecrackertest has a program that stands in for Firecracker where KVM runs no
// machine. It holds every request against Firecracker's own description of its API
// (testdata/firecracker.yaml) and against the order that Firecracker demands, speaks the
// protocol of its vsock, and in the place of a machine it runs the choir-init that the driver
// handed over, under bubblewrap. It has no kernel of its own, so it says nothing of isolation.
// The same program stands in for the jailer.
package firecrackertest

import (
	"bytes"
	_ "embed" // for the description
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/getkin/kin-openapi/openapi2"
	"github.com/getkin/kin-openapi/openapi2conv"
	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"go.yaml.in/yaml/v4"
)

//go:embed testdata/firecracker.yaml
var description []byte

// checker holds requests against the description of the API.
type checker struct{ router routers.Router }

func newChecker() (*checker, error) {
	doc, err := readDescription(description)
	if err != nil {
		return nil, fmt.Errorf("read the description of Firecracker's API: %v", err)
	}
	// Firecracker refuses a field that it does not know.
	for _, s := range doc.Components.Schemas {
		closeSchema(s.Value)
	}
	router, err := gorillamux.NewRouter(doc)
	return &checker{router}, err
}

// readDescription converts the description, of Swagger 2, to OpenAPI 3.
func readDescription(text []byte) (*openapi3.T, error) {
	var tree any
	if err := yaml.Unmarshal(text, &tree); err != nil {
		return nil, err
	}
	raw, err := json.Marshal(withNames(tree))
	if err != nil {
		return nil, err
	}
	var old openapi2.T
	if err := json.Unmarshal(raw, &old); err != nil {
		return nil, err
	}
	return openapi2conv.ToV3(&old)
}

// withNames makes every key of a tree a string, as JSON needs them: statuses are numbers.
func withNames(tree any) any {
	switch t := tree.(type) {
	case map[any]any:
		out := map[string]any{}
		for k, v := range t {
			out[fmt.Sprint(k)] = withNames(v)
		}
		return out
	case map[string]any:
		for k, v := range t {
			t[k] = withNames(v)
		}
	case []any:
		for i, v := range t {
			t[i] = withNames(v)
		}
	}
	return tree
}

// closeSchema makes objects refuse fields that they do not name, unless they are said to have
// more.
func closeSchema(s *openapi3.Schema) {
	if s == nil {
		return
	}
	if len(s.Properties) > 0 && s.AdditionalProperties.Has == nil && s.AdditionalProperties.Schema == nil {
		no := false
		s.AdditionalProperties.Has = &no
	}
	for _, p := range s.Properties {
		if p.Ref == "" {
			closeSchema(p.Value)
		}
	}
}

// check returns an error for a request that is not as the description says. The body of the
// request can be read again afterwards.
func (c *checker) check(r *http.Request) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	again := func() io.ReadCloser { return io.NopCloser(bytes.NewReader(body)) }
	defer func() { r.Body = again() }()
	at := *r.URL
	at.Scheme, at.Host = "http", "localhost"
	held := r.Clone(r.Context())
	held.URL, held.Host, held.Body = &at, "localhost", again()
	route, parameters, err := c.router.FindRoute(held)
	if err != nil {
		return refuse("Invalid request method and/or path: %s %s.", r.Method, r.URL.Path)
	}
	if r.Method != http.MethodGet && len(body) == 0 {
		return refuse("Empty %s request.", r.Method)
	}
	return openapi3filter.ValidateRequest(r.Context(), &openapi3filter.RequestValidationInput{Request: held, PathParams: parameters, Route: route})
}
