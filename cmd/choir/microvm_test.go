package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/machineimage"
	"choiros/internal/sandbox/sandboxtest"
)

// machines makes TestAComputerMovesToAVirtualMachineAndBack run, which takes minutes where
// machines are emulated: make soak does, PART=microvm.
var machines = flag.Bool("machines", false, "boot virtual machines")

// TestAComputerMovesToAVirtualMachineAndBack works on one computer under local, under
// microvm, where choir is killed once, and under local again: log and files go on, and
// each start of a sandbox says its level.
func TestAComputerMovesToAVirtualMachineAndBack(t *testing.T) {
	if !*machines {
		t.Skip("it boots emulated machines; make soak runs it, PART=microvm")
	}
	m := newMachine(t, "")
	image := sandboxtest.MachineImage(t)
	inMachine := fmt.Sprintf("[runtime]\nmode = 'microvm'\n[microvm]\nkernel = %q\nrootfs = %q\n", image+machineimage.KernelSuffix, image)
	movesThereAndBack(t, m, inMachine, "microvm")
}

// movesThereAndBack works on one computer under local, under the rung of the settings, where
// choir is killed once, and under local again.
func movesThereAndBack(t *testing.T, m *machine, there, rung string) {
	t.Helper()
	works := func(script, want string) {
		t.Helper()
		out := m.runWith(fmt.Sprintf(`{"kind":"edit_repo","instruction":"Do it.","commands":[{"shell":%q}]%s}`, script, noVerify), "task", "-", "--json")
		var r choir.AssociateResult
		if err := json.Unmarshal([]byte(out.out), &r); err != nil || r.Status != choir.StatusOK || !strings.Contains(r.CommandsRun[0].StdoutTail, want) {
			t.Fatalf("%q ended with %d, %v: %s%s", script, out.code, err, out.out, out.errOut)
		}
	}
	r := m.up()
	r.healthy()
	works("mkdir -p workspace/kept && echo local > workspace/kept/a && uname -r", "")
	r.stop()

	m.configure(there)
	r = m.up()
	r.healthy()
	works("cat workspace/kept/a && uname -r && echo machine > workspace/kept/b", "local\n")
	r.kill()
	r = m.up() // takes the machines up again, with what they have
	r.healthy()
	works("cat workspace/kept/b && echo again > workspace/kept/c", "machine\n")
	r.stop()

	m.configure("")
	r = m.up()
	r.healthy()
	works("cat workspace/kept/a workspace/kept/b workspace/kept/c", "local\nmachine\nagain\n")
	events := m.client().log(t)
	r.stop()
	if got, err := os.ReadFile(filepath.Join(m.workspace(), "workspace/kept/c")); string(got) != "again\n" || err != nil {
		t.Errorf("on the host it is %q, %v", got, err)
	}
	var drivers []string
	recovered := 0
	for i, e := range events {
		if e.Seq != uint64(i+1) {
			t.Fatalf("event %d has number %d", i, e.Seq)
		}
		if e.Type != choir.TypeSandboxStarted {
			continue
		}
		var s choir.SandboxStarted
		if err := json.Unmarshal(e.Payload, &s); err != nil {
			t.Fatal(err)
		}
		if s.Recovered {
			recovered++
		}
		if s.Role == choir.RoleAssociate && !s.Recovered {
			drivers = append(drivers, s.Driver)
		}
	}
	if strings.Join(drivers, " ") != "local "+rung+" local" || recovered != 2 {
		t.Errorf("sandboxes were made by %v, and %d recovered", drivers, recovered)
	}
}
