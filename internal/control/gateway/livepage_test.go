package gateway

import (
	"maps"
	"net/http"
	"slices"
	"testing"
)

// TestNothingOfADevelopmentServerOutlivesIt: what a browser keeps of it would be
// shown after its source was taken back.
func TestNothingOfADevelopmentServerOutlivesIt(t *testing.T) {
	h := http.Header{
		"Content-Type": {"text/javascript"}, "Etag": {`"a"`}, "Cache-Control": {"public, max-age=31536000, immutable"}, "Expires": {"Fri, 01 Jan 2100 00:00:00 GMT"},
		"Set-Cookie": {"a=b"}, "Access-Control-Allow-Origin": {"*"}, "Content-Security-Policy": {"frame-ancestors *"}, "Service-Worker-Allowed": {"/"},
		"Clear-Site-Data": {`"*"`}, "Strict-Transport-Security": {"max-age=31536000"},
	}
	onlyLive(h)
	if got := slices.Sorted(maps.Keys(h)); !slices.Equal(got, []string{"Cache-Control", "Content-Type", "Etag"}) || h.Get("Cache-Control") != "no-cache" {
		t.Errorf("it says %v", h)
	}
}
