package api

import (
	"net/http"
	"slices"
)

// routes is an http.ServeMux that records its patterns and checks the caller's ownership
// on every route.
type routes struct {
	http.ServeMux
	owners   ownersAndUsers
	patterns []string
}

// HandleFunc registers a handler behind guard.
func (m *routes) HandleFunc(pattern string, h func(http.ResponseWriter, *http.Request)) {
	m.patterns = append(m.patterns, pattern)
	m.ServeMux.HandleFunc(pattern, guard(m.owners, pattern, h))
}

// Routes returns the sorted patterns of all routes, including those not in the OpenAPI
// document.
func (a *API) Routes() []string { return slices.Sorted(slices.Values(a.mux.patterns)) }
