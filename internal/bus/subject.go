package bus

import (
	"strings"

	"choiros/internal/choir"
)

// SubjectFor is the subject a committed event is delivered on: agent.… when it
// has a run, else user.….
func SubjectFor(e choir.Event) string {
	owner := string(e.User) + "." + string(e.Computer) + "."
	if e.Run != "" {
		return "agent." + owner + string(e.Run) + "." + string(e.Type)
	}
	return "user." + owner + string(e.Type)
}

// TaskSubject is where control sends a worker its deliveries.
func TaskSubject(user, computer choir.ID, role choir.Role) string {
	return "task." + string(user) + "." + string(computer) + "." + string(role)
}

// LiveSubject is where a worker streams text of a run.
func LiveSubject(user, computer choir.ID, role choir.Role, run choir.ID) string {
	return "live." + string(user) + "." + string(computer) + "." + string(role) + "." + string(run)
}

// DraftSubject is where control tells pages of drafts that changed.
func DraftSubject(user, computer choir.ID) string {
	return "draft." + string(user) + "." + string(computer)
}

// CommandSubject is where the caller asks its computer for a verb.
func CommandSubject(c choir.Caller, verb choir.Verb) string {
	return strings.Join([]string{
		"cmd", string(c.User), string(c.Computer), string(verb), string(c.Role), c.Connection,
	}, ".")
}

// ParseCommand reads the caller and the verb out of a cmd subject. The server
// lets a connection publish under its own role and token only, so what is read
// here is who really asked.
func ParseCommand(subject string) (choir.Caller, choir.Verb, error) {
	parts := strings.Split(subject, ".")
	if len(parts) != 6 || parts[0] != "cmd" {
		return choir.Caller{}, "", choir.Invalid("subject", "%q is not cmd.<uid>.<cid>.<verb>.<role>.<connection>", subject)
	}
	c := choir.Caller{
		User: choir.ID(parts[1]), Computer: choir.ID(parts[2]),
		Role: choir.Role(parts[4]), Connection: parts[5],
	}
	switch {
	case !c.User.Valid() || !c.Computer.Valid():
		return choir.Caller{}, "", choir.Invalid("subject", "%q does not name a user and a computer", subject)
	case c.Role.Source() == "":
		return choir.Caller{}, "", choir.Invalid("subject", "%q does not name a role", subject)
	case !validToken(c.Connection) || parts[3] == "":
		return choir.Caller{}, "", choir.Invalid("subject", "%q does not name a verb and a connection", subject)
	}
	return c, choir.Verb(parts[3]), nil
}

// InboxPrefix begins the only subjects a connection receives replies on.
func InboxPrefix(connection string) string { return "_INBOX_" + connection }

// validToken accepts what hub makes as a connection token: it is part of a
// subject, so it must hold no dot and no wildcard.
func validToken(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return s != "" && len(s) <= 64
}
