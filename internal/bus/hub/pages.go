package hub

import (
	"math"
	"strings"

	"github.com/nats-io/nats-server/v2/server"

	"choiros/internal/choir"
)

// pageTag is the prefix of the tag that names the computer in the credentials of a page.
// NATS keeps the tags of each connection.
const pageTag = "page-of:"

// Pages counts the connected pages of each computer: shells and desktops. Code unavailable:
// the bus does not run.
func (s *Server) Pages() (map[choir.ID]int, error) {
	ns := s.current()
	if ns == nil {
		return nil, ErrClosed
	}
	conns, err := ns.Connz(&server.ConnzOptions{Username: true, Limit: math.MaxInt32})
	if err != nil {
		return nil, choir.Wrap("bus.pages", choir.CodeUnavailable, err, "list the connections to the bus")
	}
	out := map[choir.ID]int{}
	for _, c := range conns.Conns {
		for _, tag := range c.Tags {
			if computer, ok := strings.CutPrefix(tag, pageTag); ok {
				out[choir.ID(computer)]++
			}
		}
	}
	return out, nil
}
