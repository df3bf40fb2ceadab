package bus

import (
	"strings"

	"choiros/internal/choir"
)

// SubjectFor returns the subject on which the relay publishes an event: agent.… if it
// belongs to a run, else user.….
func SubjectFor(e choir.Event) string {
	owner := string(e.User) + "." + string(e.Computer) + "."
	if e.Run != "" {
		return "agent." + owner + string(e.Run) + "." + string(e.Type)
	}
	return "user." + owner + string(e.Type)
}

// TaskFeedSubject returns the subject of a computer's events of type t, which is in the
// task feed, of every run.
func TaskFeedSubject(user, computer choir.ID, t choir.Type) string {
	return "agent." + string(user) + "." + string(computer) + ".*." + string(t)
}

// BeforeHeader is the message header with the number of the previous event of the task
// feed. It is absent if the relay does not know it.
const BeforeHeader = "Choir-Task-Before"

// LiveSubject returns the subject on which a role publishes live text of a run.
func LiveSubject(user, computer choir.ID, role choir.Role, run choir.ID) string {
	return "live." + string(user) + "." + string(computer) + "." + string(role) + "." + string(run)
}

// DraftSubject returns the subject on which the control plane tells pages of changed
// drafts.
func DraftSubject(user, computer choir.ID) string {
	return "draft." + string(user) + "." + string(computer)
}

// CommandSubject returns the subject on which the caller sends a verb to its computer.
func CommandSubject(c choir.Caller, verb choir.Verb) string {
	return strings.Join([]string{
		"cmd", string(c.User), string(c.Computer), string(verb), string(c.Role), c.Connection,
	}, ".")
}

// ParseCommand returns caller and verb of a command's subject. The server permits a
// connection to publish only under its own role and token, so the caller is authentic.
// Code invalid: it is no such subject.
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

// InboxPrefix returns the first token of the subjects on which a connection receives
// replies.
func InboxPrefix(connection string) string { return "_INBOX_" + connection }

// validToken reports whether s has the form of a connection token made by hub: lower-case
// letters and digits only, so that it fits in a subject.
func validToken(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return s != "" && len(s) <= 64
}
