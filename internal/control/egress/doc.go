// Package egress decides what the programs in a computer's sandboxes may reach outside, and
// carries it: an HTTP proxy for CONNECT and for requests in absolute form.
//
// A request is read once, by net/http's server, into one Target: canonical host, port, method
// and path. What two readers could read differently is refused. The policy decides about the
// target, the proxy resolves the name itself, checks every address it gets, and dials exactly
// one of these. In a tunnel to port 443 the server name of the ClientHello must be the host
// that was allowed. It is decrypted only where a rule, an injected header or the package cache looks
// into requests.
package egress
