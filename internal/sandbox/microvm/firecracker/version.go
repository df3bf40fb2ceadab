package firecracker

import (
	"context"
	"fmt"
	"os/exec"
	"strings"

	"choiros/internal/choir"
)

// Oldest is the first version that can be used: in earlier ones the jailer's end could reach
// Firecracker as a signal where it has a pid namespace of its own.
var Oldest = Version{1, 11, 0}

// Version is a version of Firecracker or its jailer.
type Version struct{ Major, Minor, Patch int }

// String returns the version as Firecracker writes it, without the v.
func (v Version) String() string { return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch) }

// before reports whether v is older than o.
func (v Version) before(o Version) bool {
	if v.Major != o.Major {
		return v.Major < o.Major
	}
	if v.Minor != o.Minor {
		return v.Minor < o.Minor
	}
	return v.Patch < o.Patch
}

// parseVersion reads "Firecracker v1.16.1" and "Jailer v1.17.0-dev".
func parseVersion(text string) (v Version, ok bool) {
	_, after, found := strings.Cut(text, " v")
	n, _ := fmt.Sscanf(after, "%d.%d.%d", &v.Major, &v.Minor, &v.Patch) // n says how far it came
	return v, found && n == 3
}

// VersionOf runs a program, Firecracker or its jailer, and returns its version. Code
// unavailable: it does not say one, or one older than Oldest.
func VersionOf(ctx context.Context, program string) (Version, error) {
	const op = "firecracker.version"
	cmd := exec.CommandContext(ctx, program, "--version")
	cmd.Env, cmd.Dir = []string{}, "/"
	out, err := cmd.Output()
	if err != nil {
		return Version{}, choir.Wrap(op, choir.CodeUnavailable, err, "ask %s for its version", program)
	}
	v, ok := parseVersion(string(out))
	if !ok {
		first, _, _ := strings.Cut(string(out), "\n")
		return v, choir.Refuse(op, choir.ReasonVMNoVersion, choir.TextOf("program", program), choir.TextOf("said", first))
	}
	if v.before(Oldest) {
		return v, choir.Refuse(op, choir.ReasonVMVersionOld, choir.TextOf("program", program), choir.TextOf("version", v), choir.TextOf("wanted", Oldest))
	}
	return v, nil
}
