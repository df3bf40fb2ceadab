package config

import (
	"regexp"
	"strings"

	"golang.org/x/net/publicsuffix"

	"choiros/internal/choir"
)

var hostName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$`)

// checkSite returns an error with code invalid unless browsers can reach the shell and the
// places under the configured names, and keep them apart.
func (l Listen) checkSite() error {
	for _, n := range []struct{ key, value string }{{"listen.shell", l.Shell}, {"listen.domain", l.Domain}} {
		if !hostName.MatchString(n.value) {
			return choir.Invalid(n.key, "%q is not a host name in lower case", n.value)
		}
	}
	switch {
	case l.Scheme != "http" && l.Scheme != "https":
		return choir.Invalid("listen.scheme", "must be http or https, not %q", l.Scheme)
	case l.PublicPort < 0 || l.PublicPort > 65535:
		return choir.Invalid("listen.public_port", "must be 0 to 65535, not %d", l.PublicPort)
	case l.Scheme == "http" && !(isLocalName(l.Shell) && isLocalName(l.Domain)):
		// Browsers take the names below localhost for secure.
		return choir.Invalid("listen.scheme", "http is for names below localhost: elsewhere browsers keep no session without TLS").
			WithRemedy(`set listen.scheme = "https" and have a proxy end TLS for %s and *.%s`, l.Shell, l.Domain)
	case !isLocalName(l.Domain) && siteOf(l.Shell) == siteOf("x."+l.Domain):
		return choir.Invalid("listen.domain", "%s is of the same site as the shell %s: browsers would send a desktop's requests to the shell as its own", l.Domain, l.Shell).
			WithRemedy("use a registered domain of its own for desktops and previews")
	}
	return nil
}

// isLocalName reports whether a host name is localhost or below it.
func isLocalName(host string) bool {
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// siteOf returns the registrable domain of a host name, which browsers call its site.
func siteOf(host string) string {
	site, err := publicsuffix.EffectiveTLDPlusOne(host)
	if err != nil {
		return host // a public suffix, which is a site of its own
	}
	return site
}
