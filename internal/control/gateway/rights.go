package gateway

import (
	"net/http"

	"choiros/internal/choir"
	"choiros/internal/control/api"
)

// ofComputer is the path prefix of operations on a computer. Agents can rewrite a
// desktop, so it may only do what its owner does there daily, and nothing reserved to
// the owner. Every route of the API is in desktopMay or in ownerOnly; a route in neither
// is refused.
const ofComputer = "/api/computers/{computer}"

// desktopMay are the routes that a desktop's session may call for its own computer.
// Events that result have the desktop as their source.
var desktopMay = []string{
	"GET " + ofComputer,
	"POST " + ofComputer + "/bus",

	// Windows, themes and settings.
	"GET " + ofComputer + "/desktop",
	"GET " + ofComputer + "/desktop/source",
	"POST " + ofComputer + "/desktop/broke",
	"POST " + ofComputer + "/windows",
	"POST " + ofComputer + "/windows/{window}/move",
	"POST " + ofComputer + "/windows/{window}/snap",
	"POST " + ofComputer + "/windows/{window}/title",
	"POST " + ofComputer + "/windows/{window}/focus",
	"POST " + ofComputer + "/windows/{window}/minimise",
	"POST " + ofComputer + "/windows/{window}/maximise",
	"POST " + ofComputer + "/windows/{window}/restore",
	"POST " + ofComputer + "/windows/{window}/close",
	"POST " + ofComputer + "/theme",
	"POST " + ofComputer + "/settings",

	// Prompts, and words to a run. An answer is words too: a grant is none.
	"POST " + ofComputer + "/prompts",
	"GET " + ofComputer + "/runs",
	"GET " + ofComputer + "/runs/{run}",
	"POST " + ofComputer + "/runs/{run}/cancel",
	"POST " + ofComputer + "/runs/{run}/steer",
	"POST " + ofComputer + "/runs/{run}/answers",
	"POST " + ofComputer + "/runs/{run}/dismiss",
	// The demo as it is shipped: it costs nothing, and its project lies in the
	// workspace, where a desktop may write anyway.
	"POST " + ofComputer + "/demo",
	"POST " + ofComputer + "/runs/{run}/faster",
	"GET " + ofComputer + "/tasks/{task}",
	"GET " + ofComputer + "/events",

	// Documents and files.
	"GET " + ofComputer + "/documents",
	"GET " + ofComputer + "/documents/{document}",
	"POST " + ofComputer + "/documents",
	"PUT " + ofComputer + "/documents/{document}/title",
	"DELETE " + ofComputer + "/documents/{document}",
	"GET " + ofComputer + "/documents/{document}/versions",
	"PUT " + ofComputer + "/documents/{document}/versions/{version}",
	"GET " + ofComputer + "/documents/{document}/overlays",
	"POST " + ofComputer + "/documents/{document}/overlays",
	"POST " + ofComputer + "/documents/{document}/overlays/{overlay}/settle",
	"GET " + ofComputer + "/files",
	"GET " + ofComputer + "/files/{path...}",
	"PUT " + ofComputer + "/files/{path...}",
	"DELETE " + ofComputer + "/files/{path...}",
	"GET " + ofComputer + "/folder",
	"POST " + ofComputer + "/folders",
	"POST " + ofComputer + "/moves",
	"POST " + ofComputer + "/copies",
	"GET " + ofComputer + "/find",
	"GET " + ofComputer + "/trash",
	"POST " + ofComputer + "/trash",
	"DELETE " + ofComputer + "/trash",
	"POST " + ofComputer + "/trash/{id}/restore",
	"GET " + ofComputer + "/blobs/{digest}",
	"GET " + ofComputer + "/repos",

	// What is typed and not saved.
	"GET " + ofComputer + "/drafts",
	"GET " + ofComputer + "/drafts/{app}",
	"PUT " + ofComputer + "/drafts/{app}",
	"DELETE " + ofComputer + "/drafts/{app}",

	// Terminals: a shell may do what a task may.
	"GET " + ofComputer + "/terminals",
	"POST " + ofComputer + "/terminals",
	"DELETE " + ofComputer + "/terminals/{terminal}",
	"POST " + ofComputer + "/terminals/{terminal}/size",
	"GET " + ofComputer + "/terminals/{terminal}/socket",

	// A checkpoint by hand, and looking at the past.
	"GET " + ofComputer + "/checkpoints",
	"POST " + ofComputer + "/checkpoints",
	"GET " + ofComputer + "/timeline",
	"GET " + ofComputer + "/diff",
	"GET " + ofComputer + "/at/{seq}",
	"GET " + ofComputer + "/at/{seq}/folder",
	"GET " + ofComputer + "/at/{seq}/file",
}

// pastMay are the routes that a desktop of the past may call. All of them only read.
var pastMay = []string{
	"GET " + ofComputer,
	"GET " + ofComputer + "/desktop",
	"GET " + ofComputer + "/documents",
	"GET " + ofComputer + "/documents/{document}",
	"GET " + ofComputer + "/events",
	"GET " + ofComputer + "/files",
	"GET " + ofComputer + "/files/{path...}",
	"GET " + ofComputer + "/folder",
	"GET " + ofComputer + "/runs",
	"GET " + ofComputer + "/timeline",
}

// ownerOnly are the routes that require the shell or the CLI.
var ownerOnly = []string{
	"GET /api/computers",
	"POST /api/computers",
	"GET /api/diagnosis",
	"GET /api/doctor",
	"GET /api/health",
	"GET /api/settings",
	"PUT /api/settings/phrase",
	"POST " + ofComputer + "/runs/{run}/pause",
	"POST " + ofComputer + "/runs/{run}/resume",
	"POST /api/settings/models",
	"POST /api/settings/models/test",
	"DELETE /api/settings/models/{name}",
	"POST /api/link",
	"POST /api/metrics/token",
	"DELETE /api/metrics/token",
	"POST " + ofComputer + "/ticket",
	"POST " + ofComputer + "/tasks",
	"POST " + ofComputer + "/desktop/upgrade",
	"GET " + ofComputer + "/egress",
	"POST " + ofComputer + "/egress/grants",
	"POST " + ofComputer + "/egress/revoke",
	"POST " + ofComputer + "/egress/deny",
	"PUT /api/egress/mode",
	"PUT /api/egress/listed",
	"POST /api/egress/reload",
	"GET " + ofComputer + "/approvals",
	"GET " + ofComputer + "/approvals/{task}",
	"POST " + ofComputer + "/approvals/{task}",
	"GET " + ofComputer + "/vault",
	"PUT " + ofComputer + "/vault/{name}",
	"DELETE " + ofComputer + "/vault/{name}",
	"POST /api/vault/rotate",
	"POST " + ofComputer + "/repos",
	"POST " + ofComputer + "/undo",
	"POST " + ofComputer + "/verify",
	"POST " + ofComputer + "/rewind",
	"GET " + ofComputer + "/rewind",
	"DELETE " + ofComputer + "/rewind",
	"POST " + ofComputer + "/fork",
	"POST " + ofComputer + "/take",
	"POST " + ofComputer + "/collect",
	"GET " + ofComputer + "/compare",
	"GET " + ofComputer + "/archive",
	"PUT " + ofComputer + "/repos/{name}",
	"GET " + ofComputer + "/repos/{name}/export",
}

// rights passes only the given routes to next, for the desktop's own computer, and
// answers others with code forbidden.
func rights(next http.Handler, may []string) http.Handler {
	mux := http.NewServeMux()
	for _, route := range may {
		mux.Handle(route, ownComputer(next.ServeHTTP))
	}
	mux.HandleFunc("/api/", refused)
	return mux
}

// ownComputer calls next if the path names the computer of the desktop that asks, and
// otherwise answers code forbidden.
func ownComputer(next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if place, _ := placeIn(r.Context()); choir.ID(r.PathValue("computer")) != place.Computer {
			api.WriteProblem(w, choir.Refuse("gateway", choir.ReasonOtherComputersDesktop))
			return
		}
		next(w, r)
	})
}

// refused answers code forbidden for an operation that a desktop may not use.
func refused(w http.ResponseWriter, r *http.Request) {
	api.WriteProblem(w, choir.Refuse("gateway", choir.ReasonDesktopMayNot, choir.TextOf("operation", r.Method+" "+r.URL.Path)))
}
