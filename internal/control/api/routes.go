package api

import (
	"net/http"
	"slices"
)

// routes is a mux that can say what it routes.
type routes struct {
	http.ServeMux
	patterns []string
}

// HandleFunc registers a handler, as the mux's own does.
func (m *routes) HandleFunc(pattern string, h func(http.ResponseWriter, *http.Request)) {
	m.patterns = append(m.patterns, pattern)
	m.ServeMux.HandleFunc(pattern, h)
}

// Routes are the patterns of everything that is served, described in the OpenAPI
// document or not.
func (a *API) Routes() []string { return slices.Sorted(slices.Values(a.mux.patterns)) }
