package gateway

import (
	"net/http"
	"slices"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/control/api"
	"choiros/internal/control/auth"
)

// allowlistHeader is the header of the connection allowlist. Pages that agents wrote run
// in the owner's browser, which has a network. Two headers limit what they may connect
// to: a content security policy, which every browser supports, and a connection
// allowlist, which also stops WebRTC, preconnects, popups and navigation away, where the
// browser supports it (Chromium 156; ui/e2e/tests/trust-outside.test.js).
const allowlistHeader = "Connection-Allowlist"

// previewMayNotSay are headers by which a server in a sandbox could make the browser
// contact others, send reports, store state or act beyond its page. keepPolicies handles
// reports of content security policies.
var previewMayNotSay = []string{
	// Requests of the browser's own.
	"Link", "Refresh", "Speculation-Rules", "Alt-Svc", "Sourcemap", "X-Sourcemap",
	// Reports, and the policies that exist only to report.
	"Report-To", "Reporting-Endpoints", "Nel", "Expect-Ct", "Content-Security-Policy-Report-Only", "Cross-Origin-Embedder-Policy-Report-Only",
	"Cross-Origin-Opener-Policy-Report-Only", "Document-Policy-Report-Only", "Integrity-Policy-Report-Only", "Permissions-Policy-Report-Only",
	// The gateway's own.
	allowlistHeader, allowlistHeader + "-Report-Only",
	// State beyond the page.
	"Clear-Site-Data", "Service-Worker-Allowed", "Strict-Transport-Security", "Set-Login", "Activate-Storage-Access",
	"Attribution-Reporting-Register-Source", "Attribution-Reporting-Register-Trigger", "Observe-Browsing-Topics",
}

// previewPolicy returns the content security policy of a preview. It is sent in addition
// to the application's own, and the browser enforces both.
func (g *Gateway) previewPolicy(place auth.Place) string {
	own := g.cfg.Site.originOf(place)
	return strings.Join([]string{
		"default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:", "connect-src 'self' " + socketOf(own), "form-action 'self'",
		"base-uri 'self'", "frame-src 'self' data: blob:", "frame-ancestors " + g.cfg.Site.originOf(auth.Place{Computer: place.Computer}) + " " + g.Origin(),
	}, "; ")
}

// restrictPreview removes forbidden headers of an application's answer and adds the
// gateway's policies.
func (g *Gateway) restrictPreview(h http.Header, place auth.Place) {
	for _, name := range previewMayNotSay {
		h.Del(name)
	}
	keepPolicies(h)
	h.Add("Content-Security-Policy", g.previewPolicy(place))
	h.Set(allowlistHeader, g.allowlist(place))
}

// keepPolicies removes report-uri and report-to from an application's content security
// policies, because no other directive restricts those requests.
func keepPolicies(h http.Header) {
	all := h.Values("Content-Security-Policy")
	h.Del("Content-Security-Policy")
	for _, policy := range strings.Split(strings.Join(all, ","), ",") {
		directives := slices.DeleteFunc(strings.Split(policy, ";"), func(d string) bool {
			words := strings.Fields(d)
			return len(words) > 0 && (strings.EqualFold(words[0], "report-uri") || strings.EqualFold(words[0], "report-to"))
		})
		if kept := strings.TrimSpace(strings.Join(directives, ";")); kept != "" {
			h.Add("Content-Security-Policy", kept)
		}
	}
}

// allowlist returns the connection allowlist of a place: its own origin, and for a
// desktop the previews of its computer, which it frames. Redirects are allowed, because
// all listed origins are the gateway's, which refuses redirects to others (staysHere).
func (g *Gateway) allowlist(place auth.Place) string {
	if place.Past || place.Port > 0 {
		return "(response-origin);redirects=allow"
	}
	previews := strings.Replace(g.cfg.Site.originOf(place), "://", "://*"+placeMark, 1)
	return `(response-origin "` + previews + `");redirects=allow`
}

// held serves a script that tells the shell whether the browser supports connection
// allowlists. The script's own allowlist is empty, so with support its fetch fails.
func held(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set(allowlistHeader, "()")
	w.Header().Set("Content-Type", "text/javascript")
	w.Header().Set("Cache-Control", "no-store")
	// A client that went away does not need the answer.
	_, _ = w.Write([]byte(`fetch("/health").then(() => postMessage("open"), () => postMessage("held"));` + "\n"))
}

// noServiceWorker refuses requests for service worker scripts, which would keep serving
// pages of a source or server that is gone.
func noServiceWorker(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Service-Worker") != "" {
			api.WriteProblem(w, choir.Refuse("gateway.page", choir.ReasonNoServiceWorker))
			return
		}
		next.ServeHTTP(w, r)
	})
}
