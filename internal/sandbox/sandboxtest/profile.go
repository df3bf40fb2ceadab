package sandboxtest

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
)

var (
	noRoute   = []syscall.Errno{syscall.ENETUNREACH, syscall.EHOSTUNREACH, syscall.ECONNREFUSED}
	readOnly  = []syscall.Errno{syscall.EROFS, syscall.EACCES, syscall.EPERM}
	invisible = []syscall.Errno{syscall.ENOENT}
	forbidden = []syscall.Errno{syscall.EPERM, syscall.EACCES, syscall.ENOSYS}
)

// profile checks what a process inside can see and do.
func (s suite) profile(t *testing.T) {
	marker := markHome(t, secret)
	b := s.create(t, choir.RoleAssociate, nil)
	f := b.facts(t)

	t.Run("identity", func(t *testing.T) {
		if f.UID != sandbox.InsideUID || f.GID != sandbox.InsideGID || f.Hostname != "choir" || f.Cwd != sandbox.WorkspaceInside {
			t.Errorf("%d:%d at %s in %s", f.UID, f.GID, f.Hostname, f.Cwd)
		}
		if slices.ContainsFunc(f.Groups, func(g int) bool { return g != sandbox.InsideGID }) {
			t.Errorf("groups %v", f.Groups)
		}
	})
	t.Run("no privilege", func(t *testing.T) {
		for _, set := range []string{"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"} {
			if strings.Trim(f.Status[set], "0") != "" {
				t.Errorf("%s is %s", set, f.Status[set])
			}
		}
		if f.Status["NoNewPrivs"] != "1" {
			t.Errorf("NoNewPrivs is %q", f.Status["NoNewPrivs"])
		}
	})
	t.Run("environment", func(t *testing.T) {
		for _, e := range f.Environ {
			if strings.Contains(e, secret) || strings.Contains(e, b.spec.Doors) {
				t.Errorf("the host's %q is visible", e)
			}
		}
	})
	t.Run("processes", func(t *testing.T) { onlyOwnProcesses(t, f.Processes) })
	t.Run("network", func(t *testing.T) { b.noNetwork(t, f.Interfaces) })
	t.Run("names are asked of init", func(t *testing.T) { b.asksInitForNames(t) })
	t.Run("system is read-only", func(t *testing.T) {
		for _, path := range []string{
			"/x", "/usr/x", "/usr/bin/env", "/etc/passwd", "/etc/x", "/opt/x", "/var/x", "/home/x", "/run/x",
			sandbox.GuestInside + "/choir-init", "/dev/x",
			"/proc/sys/kernel/core_pattern", "/proc/sys/user/max_user_namespaces", "/proc/1/oom_score_adj",
		} {
			why := readOnly
			if strings.HasPrefix(path, "/proc/") { // a kernel of the sandbox's own may not have it
				why = append(why[:len(why):len(why)], invisible...)
			}
			b.refused(t, why, "write", path)
		}
	})
	t.Run("devices", func(t *testing.T) { b.onlyKnownDevices(t) })
	t.Run("own folders are writable", func(t *testing.T) {
		for _, dir := range []string{sandbox.WorkspaceInside, "/tmp", "/var/tmp", "/home/choir", "/dev/shm"} {
			if r := b.probe(t, "write", dir+"/x"); r.Error != "" {
				t.Error(r.Error)
			}
		}
		if folder := b.spec.WorkspaceFolder(); folder != "" {
			if _, err := os.Stat(filepath.Join(folder, "x")); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("folders in memory", func(t *testing.T) {
		for _, dir := range []string{"/tmp", "/home/choir", "/dev/shm"} {
			const script = "cd $0 && fallocate -l 1M fits && rm fits && ! fallocate -l 16G large 2>&1"
			if out := b.run(t, "/bin/sh", "-c", script, dir); out.Exit.Code != 0 || !strings.Contains(string(out.Stdout), "No space left") {
				t.Errorf("%s takes more than is given to it: %+v %s%s", dir, out.Exit, out.Stdout, out.Stderr)
			}
		}
	})
	t.Run("host is hidden", func(t *testing.T) {
		for _, path := range []string{marker, b.spec.Doors, filepath.Join(filepath.Dir(b.spec.Doors), "workspace"), "/root", "/var/lib", "/sys/fs", "/boot", "/mnt"} {
			b.refused(t, invisible, "read", path)
		}
		homes := value[[]string](t, b.probe(t, "list", "/home"))
		if !slices.Equal(homes, []string{"choir"}) {
			t.Errorf("/home has %q", homes)
		}
	})
	t.Run("the host's start and hardware are hidden", s.part(b.procIsEmpty))
	t.Run("etc is made up", func(t *testing.T) { b.etcIsMadeUp(t) })
	t.Run("guest binaries are unreadable", s.part(func(t *testing.T) {
		b.refused(t, forbidden, "read", sandbox.GuestInside+"/choir-init")
	}))
}

// markHome writes a file into the home folder of the test's user and returns its path.
// The file is removed when the test ends.
func markHome(t *testing.T, content string) string {
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.CreateTemp(home, ".choir-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(f.Name()) })
	f.WriteString(content)
	f.Close()
	return f.Name()
}

func onlyOwnProcesses(t *testing.T, seen map[int]string) {
	if !strings.Contains(seen[1], "choir-init") {
		t.Errorf("process 1 is %q", seen[1])
	}
	for pid, line := range seen {
		if !strings.Contains(line, "choir-init") && !strings.Contains(line, probeName) {
			t.Errorf("process %d of the host is visible: %q", pid, line)
		}
	}
}

func (b inside) noNetwork(t *testing.T, interfaces []string) {
	if !slices.Equal(interfaces, []string{"lo"}) {
		t.Errorf("interfaces %q", interfaces)
	}
	tcp, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	abstract, err := net.Listen("unix", "@choir-test-"+strings.ReplaceAll(tcp.Addr().String(), ":", "-"))
	if err != nil {
		t.Fatal(err)
	}
	defer abstract.Close()
	b.refused(t, noRoute, "connect", "tcp", tcp.Addr().String())
	b.refused(t, noRoute, "connect", "unix", abstract.Addr().String())
	for _, a := range hostAddresses(t) {
		b.refused(t, noRoute, "connect", "tcp", net.JoinHostPort(a, "22"))
	}
	for _, a := range []string{"192.0.2.1:80", "169.254.169.254:80", "[2001:db8::1]:80"} {
		b.refused(t, noRoute, "connect", "tcp", a)
	}
}

// asksInitForNames checks that a program which knows no proxy asks init for names: once a control
// plane is there init listens at the port of DNS, and the system's resolver is told to ask there.
func (b inside) asksInitForNames(t *testing.T) {
	a, err := b.client.Attach(timeout(t))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	// No control plane is asked for a name below choir.internal: init says itself that there is none.
	const script = `exec 3<>/dev/udp/127.0.0.1/53 && ` +
		`printf '\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x01x\x05choir\x08internal\x00\x00\x01\x00\x01' >&3 && ` +
		`timeout 60 head -c 4 <&3 | od -An -tx1 && cat /etc/resolv.conf /etc/nsswitch.conf`
	said := b.run(t, "/bin/bash", "-c", script)
	for _, want := range []string{"12 34 81 83", "nameserver 127.0.0.1\n", "hosts: files dns\n"} {
		if !strings.Contains(string(said.Stdout), want) {
			t.Errorf("there is no %q in %s%s", want, said.Stdout, said.Stderr)
		}
	}
}

// hostAddresses returns the host's IP addresses other than loopback.
func hostAddresses(t *testing.T) []string {
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, a := range all {
		if ip, ok := a.(*net.IPNet); ok && ip.IP.IsGlobalUnicast() {
			out = append(out, ip.IP.String())
		}
	}
	return out
}

func (b inside) etcIsMadeUp(t *testing.T) {
	for _, path := range []string{"/etc/shadow", "/etc/gshadow", "/etc/machine-id", "/etc/ssh", "/etc/sudoers", "/etc/ssl/private"} {
		b.refused(t, invisible, "read", path)
	}
	passwd := value[string](t, b.probe(t, "read", "/etc/passwd"))
	for line := range strings.Lines(passwd) {
		name, _, _ := strings.Cut(line, ":")
		if !slices.Contains([]string{"root", "choir", "nobody"}, name) {
			t.Errorf("the host's user %q is in /etc/passwd", name)
		}
	}
	if certs := value[[]string](t, b.probe(t, "list", "/etc/ssl/certs")); len(certs) == 0 {
		t.Error("no certificates: HTTPS through the egress door could not be checked")
	}
}

// director checks a sandbox without a workspace, where it differs from an associate's.
func (s suite) director(t *testing.T) {
	b := s.create(t, choir.RoleDirector, nil)
	b.refused(t, invisible, "list", sandbox.WorkspaceInside)
	b.refused(t, readOnly, "write", "/x")
	if f := b.facts(t); !strings.Contains(f.Processes[1], "choir-init") {
		t.Errorf("process 1 is %q", f.Processes[1])
	}
}

// procIsEmpty checks that the files of /proc that reveal something of the host are empty
// inside, and not all empty on the host.
func (b inside) procIsEmpty(t *testing.T) {
	said := 0
	for _, path := range []string{"/proc/cmdline", "/proc/interrupts", "/proc/diskstats", "/proc/partitions", "/proc/key-users", "/proc/keys"} {
		if host, err := os.ReadFile(path); err == nil && len(host) > 0 {
			said++
		}
		r := b.probe(t, "read", path)
		if text := string(r.Value); r.Error == "" && text != `""` {
			t.Errorf("%s says %s", path, text)
		}
	}
	if said == 0 {
		t.Error("none of the files says anything on the host, so nothing was checked")
	}
}
