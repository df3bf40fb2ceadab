package sprites

import (
	"bufio"
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/guestbin"
	"choiros/internal/sandbox"
)

// unpackScript checks the parcel whose digest is $1, unpacks it, and starts the sandbox with
// the further arguments.
const unpackScript = `set -eu
parcel=/tmp/choir-$1
echo "$1  $parcel" | sha256sum -c --status - || { echo "the parcel is damaged" >&2; exit 65; }
mkdir -p -m 0700 ` + inside + `
tar -xzpf "$parcel" -C ` + inside + ` --no-same-owner
rm -f "$parcel"
shift
exec sh ` + inside + `/start.sh "$@"`

// boot makes a sprite and starts the sandbox in it. The caller removes the sprite if there
// is an error.
func (b *box) boot(ctx context.Context, spec sandbox.Spec) error {
	limits := spec.Limits
	asked := size{MemoryMB: limits.MemoryBytes >> 20, CPUs: (limits.CPUMilli + 999) / 1000, Region: b.api.cfg.Region, DiskGB: b.api.cfg.DiskGB}
	if err := b.api.create(ctx, b.state.Sprite, asked); err != nil {
		return err
	}
	if err := b.awaitMachine(ctx); err != nil {
		return err
	}
	if err := b.api.closeNetwork(ctx, b.state.Sprite); err != nil {
		return err
	}
	sent, err := b.parcels.of(spec.Guest)
	if err != nil {
		return err
	}
	if err := b.api.upload(ctx, b.state.Sprite, sent.path(), sent.content); err != nil {
		return err
	}
	if err := b.start(ctx, spec, sent.digest); err != nil {
		return err
	}
	_, err = guest.NewClient(b.Dial).Hello(ctx)
	return b.notMade(err, "the sandbox did not answer")
}

// pollEvery is the pause between two questions to a sprite that is not there yet.
const pollEvery = 250 * time.Millisecond

// awaitMachine waits until the sprite runs programs, and finds out as whom.
func (b *box) awaitMachine(ctx context.Context) error {
	for {
		user, err := b.tryMachine(ctx)
		if err == nil {
			b.state.Sudo = user != "0"
			return nil
		}
		if choir.CodeOf(err) != choir.CodeBusy {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pollEvery):
		}
	}
}

// tryMachine returns the number of the user who runs programs in the sprite. Code busy: it
// does not run any yet.
func (b *box) tryMachine(ctx context.Context) (string, error) {
	got, err := b.api.get(ctx, b.state.Sprite)
	if err != nil {
		return "", err
	}
	switch got.Status {
	case "creating", "pending", "provisioning", "starting", "initializing", "restoring":
		return "", choir.E("sprites.create", choir.CodeBusy, "the sprite %s is %s", b.state.Sprite, got.Status)
	case "failed", "error", "deleting", "deleted", "destroyed":
		return "", choir.Refuse("sprites.create", choir.ReasonSpritesEndedAtOnce, choir.TextOf("name", b.state.Sprite), choir.TextOf("status", got.Status))
	}
	out, err := b.api.ask(ctx, b.state.Sprite, 64, "/usr/bin/id", "-u")
	if err != nil {
		return "", err
	}
	user := strings.TrimSpace(out)
	if _, err := strconv.ParseUint(user, 10, 32); err != nil {
		return "", nonsense("run a program in a sprite", "id says %q", clip(user))
	}
	return user, nil
}

// start unpacks the parcel in the sprite and starts the sandbox.
func (b *box) start(ctx context.Context, spec sandbox.Spec, digest string) error {
	workspace := "none"
	if _, has := spec.Workspace(); has {
		workspace = "workspace"
	}
	argv := []string{"/bin/sh", "-c", unpackScript, "choir", digest, string(spec.Computer), workspace}
	argv = append(argv, b.initArgs(spec, workspace == "workspace")...)
	started, err := b.api.run(ctx, b.state.Sprite, leftForever, b.asRoot(argv...)...)
	if err != nil {
		return err
	}
	b.watched = started
	stop := context.AfterFunc(ctx, func() { started.SetReadDeadline(time.Unix(1, 0)) })
	line, err := bufio.NewReaderSize(started, 512).ReadSlice('\n')
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return b.notMade(err, "the sandbox did not start")
	}
	if _, err := fmt.Sscanf(string(line), "kernel %s %d\n", &b.state.Kernel, &b.state.Landlock); err != nil {
		return nonsense("start a sandbox", "it says %q", clip(string(line)))
	}
	return nil
}

// initArgs returns the arguments of choir-init. They are in the address of a request, so
// there is no secret among them.
func (b *box) initArgs(spec sandbox.Spec, workspace bool) []string {
	args := []string{
		"--max-files", strconv.Itoa(spec.Limits.OpenFiles), "--max-processes", strconv.Itoa(spec.Limits.Processes),
		"--max-data", strconv.FormatInt(spec.Limits.MemoryBytes, 10),
	}
	if !workspace {
		args = append(args, "--workspace=")
	}
	if b.api.cfg.Orphan != sandbox.OrphanSeconds*time.Second {
		args = append(args, "--orphan", b.api.cfg.Orphan.String())
	}
	return args
}

// asRoot returns the command line that runs a program as the sprite's root.
func (b *box) asRoot(argv ...string) []string {
	if !b.state.Sudo {
		return argv
	}
	return slices.Concat([]string{"/usr/bin/sudo", "-n", "--"}, argv)
}

// script returns the command line of a script of the parcel.
func (b *box) script(name string) []string {
	return b.asRoot("/bin/sh", path.Join(inside, name))
}

// joinArgs returns the command line of a stream to the control door.
func (b *box) joinArgs() []string {
	return b.asRoot(path.Join(inside, "guest", guestbin.Init), sandbox.JoinArg, path.Join(inside, "doors", sandbox.ControlSocket))
}

// notMade returns code unavailable for a sandbox that could not be made, with what its
// sprite says; nil for nil.
func (b *box) notMade(cause error, what string) error {
	if cause == nil {
		return nil
	}
	e := &choir.Error{Op: "sprites.create", Code: choir.CodeUnavailable, Msg: "in the sprite " + b.state.Sprite + " " + what, Err: cause}
	if b.watched != nil {
		if _, said := b.watched.exit(); said != "" {
			e.Msg += ", saying " + strconv.Quote(clip(said))
		}
	}
	return e
}
