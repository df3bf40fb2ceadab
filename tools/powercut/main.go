// Powercut shows a backing folder under a mount point and can cut its power: it
// then leaves in the backing folder only what was synced, as a disk would.
//
//	powercut BACKING MOUNT
//
// It prints "ready" and takes commands on its standard input: "cut drop" loses
// everything that was not synced, "cut random SEED" keeps a random part of the
// 512-byte sectors and names in random order. It answers "cut"; from then on
// every operation fails. At the end of its input it unmounts.
//
// A file's content is durable after fsync or fdatasync of it, and its name with
// it, as ext4 does; other names after fsync of their folder. A rename is on the
// disk or it is not, as with every file system that has a journal. Owner, mode and
// times are durable at once. syncfs of a FUSE file system does not reach it.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "powercut:", err)
		os.Exit(1)
	}
}

func run(args []string, in io.Reader, out io.Writer) error {
	if len(args) != 2 {
		return errors.New("usage: powercut BACKING MOUNT")
	}
	l := newLayer(args[0])
	unmount, err := l.mount(args[1])
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "ready")
	return errors.Join(l.obey(in, out), unmount())
}

// mount shows the layer at a folder.
func (l *layer) mount(at string) (unmount func() error, err error) {
	syscall.Umask(0)
	root, err := newRoot(l)
	if err != nil {
		return nil, err
	}
	keep := 10 * time.Second // nobody else changes the backing folder
	_, err = fs.Mount(at, root, &fs.Options{
		EntryTimeout: &keep, AttrTimeout: &keep,
		MountOptions: fuse.MountOptions{
			DirectMountStrict: true, AllowOther: true, FsName: l.backing, Name: "powercut",
			Options: []string{"default_permissions"}, MaxWrite: 1 << 20,
			DisableXAttrs: true, // the kernel would ask for one at every write
		},
	})
	if err != nil {
		return nil, err
	}
	// Whoever still has a file open gets an error when this process ends.
	return func() error { return syscall.Unmount(at, syscall.MNT_DETACH) }, nil
}

func (l *layer) obey(in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		how, err := parse(lines.Text())
		if err == nil {
			err = l.powerCut(how)
		}
		if err != nil {
			return err
		}
		fmt.Fprintln(out, "cut")
	}
	return lines.Err()
}

func parse(command string) (loss, error) {
	if command == "cut drop" {
		return dropAll{}, nil
	}
	seed, err := strconv.ParseUint(strings.TrimPrefix(command, "cut random "), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("what is %q?", command)
	}
	return someSectors{rand.New(rand.NewPCG(seed, 1))}, nil
}
