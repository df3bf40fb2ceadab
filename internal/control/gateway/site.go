package gateway

import (
	"strconv"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/config"
	"choiros/internal/control/auth"
)

// Parts of the host names of places: <computer>.<domain> is a desktop,
// past--<computer>.<domain> the desktop of the past, <port>--<computer>.<domain> a
// preview of that port.
const (
	placeMark = "--"
	pastName  = "past"
)

// Site is the address of the gateway as browsers see it.
type Site struct {
	Scheme string // http, or https behind a proxy that ends TLS
	Shell  string // host name of the shell
	Domain string // parent of the host names of places, such as localhost
	Port   string
}

// NewSite returns the site of a gateway that listens at a port with a configuration.
func NewSite(l config.Listen, port string) Site {
	if l.PublicPort != 0 {
		port = strconv.Itoa(l.PublicPort)
	}
	return Site{Scheme: l.Scheme, Shell: l.Shell, Domain: l.Domain, Port: port}
}

// Origin returns the shell's origin.
func (s Site) Origin() string { return s.origin(s.Shell) }

// origin returns the origin of a host name. Browsers leave out the scheme's own port.
func (s Site) origin(host string) string {
	if s.Scheme == "http" && s.Port == "80" || s.Scheme == "https" && s.Port == "443" {
		return s.Scheme + "://" + host
	}
	return s.Scheme + "://" + host + ":" + s.Port
}

// originOf returns the origin of a place.
func (s Site) originOf(p auth.Place) string {
	name := string(p.Computer)
	switch {
	case p.Past:
		name = pastName + placeMark + name
	case p.Port > 0:
		name = strconv.Itoa(p.Port) + placeMark + name
	}
	return s.origin(name + "." + s.Domain)
}

// anyPlace returns the source expression of a content security policy that matches the
// origins of all places.
func (s Site) anyPlace() string { return s.origin("*." + s.Domain) }

// socketOf returns the address of the WebSockets of an origin.
func socketOf(origin string) string { return "ws" + strings.TrimPrefix(origin, "http") }

// placeOf parses the place that a host name stands for; false if it stands for none.
func (s Site) placeOf(host string) (auth.Place, bool) {
	name, ok := strings.CutSuffix(host, "."+s.Domain)
	if !ok {
		return auth.Place{}, false
	}
	port, computer, ok := strings.Cut(name, placeMark)
	switch {
	case !ok:
		return auth.Place{Computer: choir.ID(name)}, true
	case port == pastName:
		return auth.Place{Computer: choir.ID(computer), Past: true}, true
	}
	n, err := strconv.ParseUint(port, 10, 16)
	// One spelling only: what is spelled otherwise would be another origin.
	return auth.Place{Computer: choir.ID(computer), Port: int(n)}, err == nil && n > 0 && strconv.FormatUint(n, 10) == port
}
