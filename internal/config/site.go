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
			return choir.RefuseField(n.key, choir.ReasonConfigHostName, choir.TextOf("given", n.value))
		}
	}
	switch {
	case l.Scheme != "http" && l.Scheme != "https":
		return choir.RefuseField("listen.scheme", choir.ReasonFieldOneOf, choir.TextOf("names", "http, https"), choir.TextOf("given", l.Scheme))
	case l.PublicPort < 0 || l.PublicPort > 65535:
		return choir.RefuseField("listen.public_port", choir.ReasonFieldRange, choir.TextOf("least", "0"), choir.TextOf("most", "65535"), choir.TextOf("given", l.PublicPort))
	case l.Scheme == "http" && !(isLocalName(l.Shell) && isLocalName(l.Domain)):
		// Browsers take the names below localhost for secure.
		return choir.RefuseField("listen.scheme", choir.ReasonConfigHTTPLocal, choir.TextOf("shell", l.Shell), choir.TextOf("domain", l.Domain))
	case !isLocalName(l.Domain) && siteOf(l.Shell) == siteOf("x."+l.Domain):
		return choir.RefuseField("listen.domain", choir.ReasonConfigSameSite, choir.TextOf("domain", l.Domain), choir.TextOf("shell", l.Shell))
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
