package hub_test

import "choiros/internal/choir"

// permitted is what CONTRACTS.md allows, written out a second time and by hand:
// a line of choir.Subjects without a line here fails the test, and so does one
// that differs.
var permitted = map[string]struct{ publish, subscribe string }{
	"user.<uid>.<cid>.<type>":                    {"control", "shell desktop cli director"},
	"agent.<uid>.<cid>.<run>.<type>":             {"control", "shell desktop cli director"},
	"live.<uid>.<cid>.<role>.<run>":              {"director associate", "shell desktop cli"},
	"draft.<uid>.<cid>":                          {"control", "desktop"},
	"cmd.<uid>.<cid>.<verb>.<role>.<connection>": {"shell desktop cli director associate", "control"},
	// Who may hear all events of runs may hear these.
	"agent.<uid>.<cid>.<run>.task.dispatched":       {"control", "shell desktop cli director associate"},
	"agent.<uid>.<cid>.<run>.task.cancel_requested": {"control", "shell desktop cli director associate"},
	"agent.<uid>.<cid>.<run>.command.end_requested": {"control", "shell desktop cli director associate"},
	"agent.<uid>.<cid>.<run>.run.paused":            {"control", "shell desktop cli director associate"},
	"agent.<uid>.<cid>.<run>.run.resumed":           {"control", "shell desktop cli director associate"},
	"agent.<uid>.<cid>.<run>.task.returned":         {"control", "shell desktop cli director associate"},
	"job.<class>":                                   {"control", "pool"},
}

// permittedVerbs are the roles that may ask for each verb.
var permittedVerbs = map[choir.Verb]string{
	"append":        "director associate",
	"events-after":  "shell desktop cli director",
	"tasks-after":   "associate",
	"run-read":      "director",
	"facts-read":    "director",
	"look":          "director",
	"blob-put":      "director associate",
	"blob-get":      "director associate",
	"hello":         "director",
	"task-begin":    "associate",
	"task-tree":     "associate",
	"task-rollback": "associate",
	"task-commit":   "associate",
	"task-attempt":  "associate",
	"task-land":     "associate",
	"task-steering": "associate",
	"task-output":   "associate",
}

// permittedBeside is what lies outside the table of subjects. Where a subject
// names <inbox> it is tried with the connection's own, <other> with another's.
var permittedBeside = map[string]struct{ publish, subscribe string }{
	"<inbox>.x":                      {"", "shell desktop cli director associate pool control"},
	"<inbox>":                        {"", ""},
	"<other>.x":                      {"", ""},
	"_INBOX.x":                       {"", ""},
	"_INBOX_.x":                      {"", ""},
	"$JS.API.STREAM.INFO.EVENTS":     {"control pool", ""},
	"$JS.API.CONSUMER.CREATE.EVENTS": {"control pool", ""},
	"$JS.API.DIRECT.GET.EVENTS":      {"control pool", ""},
	"$JS.ACK.EVENTS.c.1.1.1.1.0":     {"control pool", ""},
	"$JS.FC.EVENTS.c.x":              {"", ""},
	"$JS.EVENT.ADVISORY.API":         {"", ""},
	"$SYS.REQ.SERVER.PING":           {"", ""},
	"$SYS.REQ.USER.INFO":             {"", ""},
	"$SYS.ACCOUNT.x.CONNECT":         {"", ""},
	"$KV.b.k":                        {"", ""},
	"$O.b.C.x":                       {"", ""},
	"nobodys.subject":                {"", ""},
}

// wildcards nobody may subscribe to: each would carry somebody else's messages.
var wildcards = []string{
	">", "*.>", "*", "user.>", "user.*.*.>", "agent.>", "live.>", "cmd.>", "agent.*.*.*.task.>", "agent.*.*.*.task.dispatched", "job.*.>",
	"$JS.API.>", "$JS.>", "$SYS.>", "_INBOX.>", "_INBOX_*.>", "*.*", "*.*.>", "*.*.*.*",
}
