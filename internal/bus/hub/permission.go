package hub

import (
	"slices"
	"strings"

	"github.com/nats-io/jwt/v2"

	"choiros/internal/bus"
	"choiros/internal/choir"
)

// permissions are what the server lets a connection do: its lines of
// choir.Subjects, its own inbox and, for those that keep consumers, JetStream.
func permissions(c choir.Caller) jwt.Permissions {
	var p jwt.Permissions
	p.Pub.Allow.Add(c.Publishes()...)
	if c.Role == choir.RoleControl || c.Role == choir.RolePool {
		// Whoever may create a consumer can read every event of every user.
		p.Pub.Allow.Add("$JS.API.>", "$JS.ACK.>")
	}
	p.Sub.Allow.Add(c.Subscribes()...)
	p.Sub.Allow.Add(bus.InboxPrefix(c.Connection) + ".>")
	return closed(p)
}

// answering are the permissions of the connection that answers commands. The
// reply subject comes from the caller, so this connection must be unable to
// speak anywhere but in an inbox. NATS has no wildcard inside a token, so
// "_INBOX_*.>" would be one literal subject: instead every name space that is
// somebody's is denied.
func answering(user, computer choir.ID) jwt.Permissions {
	var p jwt.Permissions
	for _, s := range choir.Subjects() {
		root, _, _ := strings.Cut(s.Pattern, ".")
		if !slices.Contains(p.Pub.Deny, root+".>") {
			p.Pub.Deny.Add(root, root+".>")
		}
	}
	for _, root := range []string{"$JS", "$SYS", "$KV", "$O", "$OBJ", "$MQTT", "$G", "$NRG", "_R_", "_GR_", "_INBOX"} {
		p.Pub.Deny.Add(root + ".>")
	}
	p.Sub.Allow.Add("cmd." + string(user) + "." + string(computer) + ".*.*.*")
	return closed(p)
}

// closed denies everything where nothing is allowed or denied, because an empty
// list means everything.
func closed(p jwt.Permissions) jwt.Permissions {
	if len(p.Pub.Allow) == 0 && len(p.Pub.Deny) == 0 {
		p.Pub.Deny.Add(">")
	}
	if len(p.Sub.Allow) == 0 {
		p.Sub.Deny.Add(">")
	}
	return p
}
