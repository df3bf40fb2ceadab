package host

import (
	"os"
	"path/filepath"
	"slices"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
)

// Capabilities are the capabilities of the drivers whose sandboxes see folders of the host. A
// copied workspace is a folder in memory.
var Capabilities = sandbox.Capabilities{
	Transports: []sandbox.Transport{sandbox.TransportBind, sandbox.TransportCopy}, Mounts: true, Streams: true, Prestart: true,
}

// CheckSpec returns the spec with default limits filled in. A spec that the capabilities do not
// cover is code invalid or unavailable. If root starts the sandbox, a spec without a host user is
// code invalid.
func CheckSpec(spec sandbox.Spec, has sandbox.Capabilities, root bool) (sandbox.Spec, error) {
	spec.Limits = spec.Limits.OrDefaults()
	if err := spec.Check(has); err != nil {
		return spec, err
	}
	if root && spec.UID <= 0 {
		return spec, choir.RefuseField("spec.uid", choir.ReasonSandboxAsRoot, choir.TextOf("uid", spec.UID))
	}
	return spec, nil
}

// CheckFolders returns code invalid if choir-init is not among the guest binaries of a spec, or
// another user could put a control door into its folder. The driver's name begins the name of the
// operation.
func CheckFolders(driver string, spec sandbox.Spec) error {
	if _, err := os.Stat(filepath.Join(spec.Guest, InitName)); err != nil {
		return choir.Wrap(driver+".create", choir.CodeInvalid, err, "look for %s among the guest binaries", InitName)
	}
	return checkDoors(spec.Doors)
}

// CheckToolchains returns why a sandbox cannot be used any more whose tasks see other folders of
// toolchains than are wanted; empty if it can.
func CheckToolchains(has, wanted []string) (outdated string) {
	if slices.Equal(has, wanted) {
		return ""
	}
	return "the sandbox had other toolchains than are wanted now and was ended"
}
