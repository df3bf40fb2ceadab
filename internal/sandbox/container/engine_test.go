package container_test

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	mobycontainer "github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/container"
	"choiros/internal/sandbox/host"
	"choiros/internal/sandbox/sandboxtest"
)

// TestNoEngine checks that a machine without an engine is told so, with the command, and
// that there is no other way.
func TestNoEngine(t *testing.T) {
	d := container.New(container.Config{StateDir: t.TempDir(), Socket: "/nonexistent/engine.sock"})
	defer d.Close()
	report := d.Probe(t.Context())
	if report.Usable || report.Checks[0].Name != "engine" || !strings.Contains(report.Checks[0].Remedy, "apt-get install -y podman") {
		t.Errorf("%+v", report)
	}
	_, err := d.Create(t.Context(), sandbox.Spec{})
	if choir.CodeOf(err) != choir.CodeUnavailable || !strings.Contains(err.Error(), "/nonexistent/engine.sock") {
		t.Errorf("create: %v", err)
	}
}

// TestAnEngineThatDoesNotAnswer checks that a driver gives up, and works once an engine
// answers at the same socket.
func TestAnEngineThatDoesNotAnswer(t *testing.T) {
	socket, dir := engine(t), sandboxtest.DataDir(t)
	link := filepath.Join(dir, "engine.sock")
	silent, err := net.Listen("unix", link)
	if err != nil {
		t.Fatal(err)
	}
	d := container.New(container.Config{StateDir: filepath.Join(dir, "state"), Socket: link, BootTimeout: 5 * time.Second})
	defer d.Close()
	if _, err := d.Create(t.Context(), sandboxtest.NewSpec(t, choir.RoleAssociate)); choir.CodeOf(err) != choir.CodeUnavailable {
		t.Errorf("create: %v", err)
	}
	silent.Close()
	if err := os.Symlink(socket, link); err != nil {
		t.Fatal(err)
	}
	// Beside other tests the engine may take longer than the boot timeout.
	for end := time.Now().Add(2 * time.Minute); ; {
		report := d.Probe(t.Context())
		if report.Checks[0].Name == "engine" && report.Checks[0].OK {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("once an engine answers: %+v", report.Checks)
		}
	}
}

// TestAStrangerAtTheDoor connects where choir-init fetches the control door, as another
// process than the container's first.
func TestAStrangerAtTheDoor(t *testing.T) {
	door, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(t.TempDir(), "door"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer door.Close()
	secret, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer secret.Close()
	other := exec.Command("sleep", "600")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer other.Wait()
	defer other.Process.Kill()
	expected, err := host.OpenProcess(other.Process.Pid, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer expected.Close()
	conn, err := net.DialUnix("unix", nil, door.Addr().(*net.UnixAddr))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := container.HandOver(t.Context(), door, secret, expected); choir.CodeOf(err) != choir.CodeForbidden {
		t.Errorf("a stranger got the door: %v", err)
	}
	rights := make([]byte, 64)
	if _, n, _, _, _ := conn.ReadMsgUnix(make([]byte, 1), rights); n > 0 {
		t.Error("a stranger was sent a file descriptor")
	}
	// The control: the process that is expected gets it.
	self, err := host.OpenProcess(os.Getpid(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer self.Close()
	own, err := net.DialUnix("unix", nil, door.Addr().(*net.UnixAddr))
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	if err := container.HandOver(t.Context(), door, secret, self); err != nil {
		t.Fatal(err)
	}
	if _, n, _, _, err := own.ReadMsgUnix(make([]byte, 1), rights); n == 0 || err != nil {
		t.Errorf("the process that is expected got %d bytes of rights: %v", n, err)
	}
}

// TestAContainerThatEndsIsNotWaitedFor checks that the hand-over gives up when the process
// that is expected ends without a word.
func TestAContainerThatEndsIsNotWaitedFor(t *testing.T) {
	door, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(t.TempDir(), "door"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer door.Close()
	short := exec.Command("cat")
	in, err := short.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := short.Start(); err != nil {
		t.Fatal(err)
	}
	p, err := host.OpenProcess(short.Process.Pid, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	in.Close()
	if err := container.HandOver(t.Context(), door, os.Stdin, p); err == nil || !strings.Contains(err.Error(), "the container has ended") {
		t.Errorf("%v", err)
	}
	short.Wait()
}

// TestWhatAKilledControlPlaneLeftIsRemoved checks that a new driver removes a container that
// was never started, with its folder, and leaves one that lives, and those of others.
func TestWhatAKilledControlPlaneLeftIsRemoved(t *testing.T) {
	state, socket := sandboxtest.DataDir(t), engine(t)
	first := container.New(container.Config{StateDir: state, Socket: socket})
	b, err := first.Create(t.Context(), sandboxtest.NewSpec(t, choir.RoleAssociate))
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	api, err := client.New(client.WithHost("unix://" + socket))
	if err != nil {
		t.Fatal(err)
	}
	defer api.Close()
	left := leftContainer(t, api, host.GroupLabel(state))
	others := leftContainer(t, api, "choir-of-another-folder")
	folder := filepath.Join(state, "boxes", "00000000-left")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	second := container.New(container.Config{StateDir: state, Socket: socket})
	defer second.Close()
	found, err := second.Recover(t.Context(), b.Handle())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := guest.NewClient(found.Dial).Hello(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := api.ContainerInspect(t.Context(), left, client.ContainerInspectOptions{}); err == nil {
		t.Error("a container that was left is there")
	}
	if _, err := api.ContainerInspect(t.Context(), others, client.ContainerInspectOptions{}); err != nil {
		t.Errorf("another's container: %v", err)
	}
	if _, err := os.Stat(folder); !os.IsNotExist(err) {
		t.Errorf("the folder that was left: %v", err)
	}
	if err := found.Destroy(t.Context()); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir(filepath.Join(state, "boxes")); err != nil || len(entries) > 0 {
		t.Errorf("after its end the driver has %v, %v", entries, err)
	}
}

// leftContainer makes a container with the label of a data folder, which is never started,
// and returns its id. It is removed when the test ends.
func leftContainer(t *testing.T, api *client.Client, label string) string {
	images, err := api.ImageList(t.Context(), client.ImageListOptions{})
	if err != nil || len(images.Items) == 0 {
		t.Fatalf("%d images: %v", len(images.Items), err)
	}
	made, err := api.ContainerCreate(t.Context(), client.ContainerCreateOptions{Config: &mobycontainer.Config{
		Image: images.Items[0].ID, Cmd: []string{"/bin/true"}, Labels: map[string]string{"choir.data": label},
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		api.ContainerRemove(context.Background(), made.ID, client.ContainerRemoveOptions{Force: true}) // most are gone
	})
	return made.ID
}

// TestImagesCanBeRemoved removes the images while a driver works.
func TestImagesCanBeRemoved(t *testing.T) {
	state, socket := sandboxtest.DataDir(t), engine(t)
	d := container.New(container.Config{StateDir: state, Socket: socket})
	defer d.Close()
	if report := d.Probe(t.Context()); !report.Usable {
		t.Fatalf("%+v", report)
	}
	api, err := client.New(client.WithHost("unix://" + socket))
	if err != nil {
		t.Fatal(err)
	}
	defer api.Close()
	images, err := api.ImageList(t.Context(), client.ImageListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, image := range images.Items {
		if _, err := api.ImageRemove(t.Context(), image.ID, client.ImageRemoveOptions{Force: true}); err != nil {
			t.Fatal(err)
		}
	}
	b, err := d.Create(t.Context(), sandboxtest.NewSpec(t, choir.RoleAssociate))
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Destroy(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestAnEngineThatIsKilled checks that a sandbox answers without its engine, that its end is
// said to be incomplete then, and that once there is an engine the rest is removed: by the same driver
// when the sandbox is destroyed once more, and by the next one.
func TestAnEngineThatIsKilled(t *testing.T) {
	engine(t)
	p, err := sandboxtest.NewPodman()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Remove()
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	for _, again := range []bool{true, false} {
		testEngineThatIsKilled(t, p, again)
	}
}

func testEngineThatIsKilled(t *testing.T, p *sandboxtest.Podman, again bool) {
	state := sandboxtest.DataDir(t)
	first := container.New(container.Config{StateDir: state, Socket: p.Socket})
	defer first.Close()
	b, err := first.Create(t.Context(), sandboxtest.NewSpec(t, choir.RoleAssociate))
	if err != nil {
		t.Fatal(err)
	}
	p.Kill()
	if _, err := guest.NewClient(b.Dial).Hello(t.Context()); err != nil {
		t.Errorf("without an engine: %v", err)
	}
	if err := b.Destroy(t.Context()); choir.CodeOf(err) != choir.CodeUnavailable {
		t.Errorf("destroyed without an engine: %v", err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	if again {
		if err := b.Destroy(t.Context()); err != nil {
			t.Errorf("destroyed once more: %v", err)
		}
	} else {
		second := container.New(container.Config{StateDir: state, Socket: p.Socket})
		defer second.Close()
		if _, err := second.Recover(t.Context(), b.Handle()); choir.CodeOf(err) != choir.CodeNotFound {
			t.Errorf("recover: %v", err)
		}
	}
	api, err := client.New(client.WithHost("unix://" + p.Socket))
	if err != nil {
		t.Fatal(err)
	}
	defer api.Close()
	if all, err := api.ContainerList(t.Context(), client.ContainerListOptions{All: true}); err != nil || len(all.Items) > 0 {
		t.Errorf("%d containers are left: %v", len(all.Items), err)
	}
}
