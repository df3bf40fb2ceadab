package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// disk is a mounted powercut, or a small tmpfs.
type disk struct {
	program, backing, at string
	source               string // what its mounts name

	run *process
	in  io.WriteCloser
	out *bufio.Reader
}

// plugIn mounts the backing folder.
func (d *disk) plugIn() error {
	cmd := exec.Command(d.program, d.backing, d.at)
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, w, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd.Stdout = w
	d.in, d.out = in, bufio.NewReader(out)
	d.run, err = start(cmd)
	w.Close()
	if err != nil {
		return err
	}
	return d.expect("ready")
}

func (d *disk) expect(word string) error {
	line, err := d.out.ReadString('\n')
	if err != nil || strings.TrimSpace(line) != word {
		return fmt.Errorf("powercut said %q: %w %s", line, errors.Join(err, d.in.Close()), d.run.said.String())
	}
	return nil
}

// cut ends all power; how is "drop" or "random SEED".
func (d *disk) cut(how string) error {
	if _, err := fmt.Fprintln(d.in, "cut "+how); err != nil {
		return err
	}
	return d.expect("cut")
}

// unplug unmounts.
func (d *disk) unplug() error {
	if d.run == nil {
		return syscall.Unmount(d.at, syscall.MNT_DETACH)
	}
	err := d.in.Close()
	<-d.run.done
	return errors.Join(err, d.run.err)
}

func (d *disk) close() error {
	if d.run != nil && d.run.ended() {
		// It was stopped before it could unmount.
		if err := syscall.Unmount(d.at, syscall.MNT_DETACH); err != nil && !errors.Is(err, syscall.EINVAL) {
			return err
		}
		return nil
	}
	return d.unplug()
}

// smallDisk mounts a tmpfs of so many MiB.
func smallDisk(at string, mib int) (*disk, error) {
	if err := os.MkdirAll(at, 0o755); err != nil {
		return nil, err
	}
	err := syscall.Mount(at, at, "tmpfs", 0, fmt.Sprintf("size=%dm,mode=755", mib))
	return &disk{at: at, source: at}, err
}
