package bus

import (
	"choiros/internal/choir"
)

// Credentials are the short-lived identity of one connection on the bus. They are passed
// in memory or through a pipe, never in a file or the environment.
type Credentials struct {
	JWT        string     `json:"jwt" choir:"len=1..65536" doc:"User JWT with the connection's permissions."`
	Seed       string     `json:"seed" choir:"len=1..200" doc:"Seed of the key that signs the server's nonce."`
	Connection string     `json:"connection" choir:"len=1..64" doc:"Random token, one to a connection."`
	Inbox      string     `json:"inbox" choir:"len=1..80" doc:"The only inbox prefix the connection may use."`
	Expires    choir.Time `json:"expires" doc:"When the server ends the connection."`
}

// String returns connection and expiry without the secrets, for logs.
func (c Credentials) String() string {
	return "credentials of connection " + c.Connection + " until " + c.Expires.String()
}

// GoString returns the same as String.
func (c Credentials) GoString() string { return c.String() }
