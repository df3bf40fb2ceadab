package sandbox

import (
	"maps"
	"slices"

	"choiros/internal/choir"
)

// Report describes whether a driver works on this machine, and how well it isolates.
type Report struct {
	Driver string  `json:"driver"`
	Usable bool    `json:"usable"`
	Level  Level   `json:"level"`
	Checks []Check `json:"checks"`
}

// Check is the result of one test of what a driver needs. DetailSaid and RemedySaid are the
// data by which Detail and Remedy are said in other languages, nil for texts without any.
type Check struct {
	Name       string      `json:"name"`
	OK         bool        `json:"ok"`
	Required   bool        `json:"required"`
	Detail     string      `json:"detail"`
	Remedy     string      `json:"remedy,omitempty"` // exact command, or empty
	DetailSaid *choir.Said `json:"detail_said,omitempty"`
	RemedySaid *choir.Said `json:"remedy_said,omitempty"`
}

// AddDetail returns the check with this detail.
func (c Check) AddDetail(detail choir.Told) Check {
	c.Detail, c.DetailSaid = detail.Text, detail.Said
	return c
}

// WithRemedy returns the check with a remedy.
func (c Check) AddRemedy(remedy choir.Told) Check {
	c.Remedy, c.RemedySaid = remedy.Text, remedy.Said
	return c
}

// The sentences of several drivers.
var (
	OwnUser   = choir.TellSentence("told.ownUser", "every computer has a host user of its own")
	ChoirUser = choir.TellSentence("told.choirsUser", "sandboxes run as the user of the control plane")
	RunAsRoot = choir.TellSentence("told.runAsRoot", "run choir as root")
	noTool    = choir.TellSentence("told.noTool", "tasks do not find it")
)

// AllowNamespaces is the remedy for user namespaces that are forbidden.
var AllowNamespaces = choir.TellSentence("told.allowNamespaces", "allow user namespaces with: {command}",
	choir.LinesOf("command", "sysctl -w user.max_user_namespaces=15000 kernel.unprivileged_userns_clone=1 kernel.apparmor_restrict_unprivileged_userns=0"))

// InstallWith returns the remedy for a program that is missing.
func InstallWith(command string) choir.Told {
	return choir.TellSentence("told.install", "install it with: {command}", choir.LinesOf("command", command))
}

// CheckTool returns the check of a program of verification, given whether tasks find it,
// and its version if they do.
func CheckTool(name, version string, found bool) Check {
	c := Check{Name: name, OK: found}
	if !found {
		return c.AddDetail(noTool)
	}
	return c.AddDetail(choir.TellSentence("told.tool", "tasks find it: {version}", choir.LinesOf("version", version)))
}

// CheckNoTools returns the one check of a machine on which no program can be looked for.
func CheckNoTools(err error) Check {
	return Check{Name: "tools"}.AddDetail(choir.TellSentence("told.tools", "cannot be looked for: {why}", choir.LinesOf("why", err)))
}

// NoDiskLimit is an entry of Level.Missing for a sandbox with a workspace, unless the
// spec has DiskLimited.
var NoDiskLimit = choir.TellSentence("told.lacksDiskLimit", "Disk space is not limited.")

// NoTaskWalls is an entry of Level.Missing where nothing but Landlock could confine tasks.
var NoTaskWalls = choir.TellSentence("told.lacksTaskWalls", "A task in one project can write in others: that needs Landlock's third version (Linux 6.2).")

// AddMissing adds protections that the machine could not provide.
func (l *Level) AddMissing(sentences ...choir.Told) {
	for _, s := range sentences {
		l.Missing = append(l.Missing, s.Text)
		if s.Said != nil {
			if l.MissingSaid == nil {
				l.MissingSaid = map[string]choir.Said{}
			}
			l.MissingSaid[s.Text] = *s.Said
		}
	}
}

// DropMissing removes a protection from the missing. Copies of the level keep it.
func (l *Level) DropMissing(sentence choir.Told) {
	l.Missing = slices.DeleteFunc(slices.Clone(l.Missing), func(m string) bool { return m == sentence.Text })
	l.MissingSaid = maps.Clone(l.MissingSaid)
	delete(l.MissingSaid, sentence.Text)
}
