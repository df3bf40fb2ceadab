package hub

import (
	"slices"
	"strings"

	"github.com/nats-io/jwt/v2"

	"choiros/internal/bus"
	"choiros/internal/choir"
)

// permissions returns the NATS permissions of a connection: those of choir.Subjects, its
// own inbox and, for control and pool, JetStream.
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

// answering returns the permissions of the connection that answers a computer's commands.
// Reply subjects come from the callers, so it may publish nowhere but in inboxes. NATS has
// no wildcard inside a token ("_INBOX_*.>" is literal), so all other name spaces are
// denied.
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

// closed returns p with everything denied where p has no list, because to NATS an empty
// list permits everything.
func closed(p jwt.Permissions) jwt.Permissions {
	if len(p.Pub.Allow) == 0 && len(p.Pub.Deny) == 0 {
		p.Pub.Deny.Add(">")
	}
	if len(p.Sub.Allow) == 0 {
		p.Sub.Deny.Add(">")
	}
	return p
}
