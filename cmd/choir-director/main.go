// Command choir-director is the Director's process inside its sandbox. It reads its boot line from
// standard input, makes the key that signs its answers, and conducts the runs of one computer until
// it is stopped.
package main

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"choiros/internal/bus"
	"choiros/internal/choir"
	"choiros/internal/director/conductor"
	"choiros/internal/guest/roledoor"
	"choiros/internal/inherited"
	"choiros/internal/model/gateway"
)

func main() {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	err := inherited.Close(roledoor.FD)
	var door *roledoor.Dialer
	if err == nil {
		door, err = roledoor.Inherited()
	}
	if err == nil {
		err = run(ctx, os.Stdin, door, log)
	}
	stop()
	if err != nil && !errors.Is(err, context.Canceled) {
		log.Error("choir-director ends", "error", err)
		os.Exit(1)
	}
}

// run connects to the bus with the boot line on stdin and conducts runs until ctx ends.
func run(ctx context.Context, stdin io.Reader, door *roledoor.Dialer, log *slog.Logger) error {
	// Before anything secret is read: no tool process may trace this one.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return choir.Wrap("director.start", choir.CodeUnavailable, err, "make the process not dumpable")
	}
	in := bufio.NewReader(stdin)
	boot, err := bus.ReadBoot(in)
	if err != nil {
		return err
	}
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return choir.Wrap("director.start", choir.CodeInternal, err, "make the key that signs answers")
	}
	client, err := bus.Dial(ctx, bus.DialConfig{
		Dial: door.To(roledoor.Bus), Credentials: boot.Credentials,
		User: boot.User, Computer: boot.Computer, Role: choir.RoleDirector,
	})
	if err != nil {
		return err
	}
	defer client.Close()
	go renew(ctx, in, client, log)
	hello := choir.HelloRequest{PublicKey: base64.StdEncoding.EncodeToString(public)}
	if err := client.Call(ctx, choir.VerbHello, hello, &choir.Done{}); err != nil {
		return err
	}
	return conductor.New(conductor.Config{
		Log: client, Models: gateway.New(egress(door)), Key: private, Logger: log,
		Limits: boot.Limits, After: boot.Start.After, Projects: boot.Start.Projects,
		Now: func() choir.Time { return choir.TimeOf(time.Now()) },
		// Nobody may be watching; the text is in the answer's event anyway.
		Live: func(run choir.ID, text string) { _ = client.Live(run, text) },
	}).Serve(ctx)
}

// renew reads new credentials from in and uses them. It runs as long as the process, because a read
// from standard input cannot be interrupted.
func renew(ctx context.Context, in *bufio.Reader, client *bus.Client, log *slog.Logger) {
	for {
		creds, err := bus.ReadCredentials(in)
		if err != nil && choir.CodeOf(err) != choir.CodeInvalid {
			return // the input ended: no more will come
		}
		if err == nil {
			err = client.UseCredentials(ctx, creds)
		}
		if err != nil && ctx.Err() == nil {
			log.Error("new credentials are not taken up", "error", err)
		}
	}
}
