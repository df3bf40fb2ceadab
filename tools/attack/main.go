// Command attack runs the red team's programs in test/attacks against one choir for
// each rung of the isolation ladder, and prints a line for each attack and last
// "N tried, N held, N broken" of all. It fails when one is broken, or none was tried.
//
//	attack [-choir bin/choir] [-rungs "local gvisor container microvm"] [-image FILE] [NAME...]
//
// A rung that this machine does not have is named with the reason. Virtual machines need an
// image, which is made when the file of -image is not there.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"choiros/bench/attacks"
	"choiros/internal/sandbox/local"
	"choiros/internal/sandbox/microvm"
)

func main() {
	choir := flag.String("choir", "bin/choir", "the binary under attack")
	corpus := flag.String("corpus", attacks.Corpus, "folder of the programs")
	rungs := flag.String("rungs", local.Name, "the rungs to attack, one after the other: some of "+strings.Join(attacks.RungNames, " "))
	image := flag.String("image", ".cache/microvm/attack.img", "the image of virtual machines")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var all attacks.Report
	err := attackRungs(ctx, strings.Fields(*rungs), attacks.Plan{Choir: *choir, Corpus: *corpus, Names: flag.Args()}, *image, &all)
	if err != nil {
		fmt.Fprintln(os.Stderr, "attack:", err)
	}
	if held := err == nil && all.Sum(os.Stdout); !held {
		stop()
		os.Exit(1)
	}
}

// attackRungs attacks a choir on each of the rungs that this machine has, and adds what it
// finds to all.
func attackRungs(ctx context.Context, rungs []string, p attacks.Plan, image string, all *attacks.Report) error {
	if slices.Contains(rungs, microvm.Name) {
		if err := makeImage(ctx, p.Choir, &image); err != nil {
			return err
		}
	}
	dir, err := os.MkdirTemp("/var/tmp", "choir-rungs-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for _, name := range rungs {
		rung := attacks.FindRung(ctx, name, dir, image)
		if rung.Missing != "" {
			fmt.Printf("==== %s: not attacked: %s\n", name, rung.Missing)
			continue
		}
		var of attacks.Report
		p.Settings = rung.Settings
		err := attacks.Run(ctx, p, func(r attacks.Report) {
			fmt.Printf("== %s on %s (%.1f s)\n", r.Name, name, r.Took.Seconds())
			r.Print(os.Stdout)
			of.Add(r)
		})
		if err != nil {
			return err
		}
		fmt.Printf("==== %s: ", name)
		of.Sum(os.Stdout)
		all.Add(of)
	}
	return nil
}

// makeImage makes the image of virtual machines, of this machine's packages, if it is not there,
// and makes its path absolute.
func makeImage(ctx context.Context, choir string, image *string) (err error) {
	if *image, err = filepath.Abs(*image); err != nil {
		return err
	}
	if _, err := os.Stat(*image); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(*image), 0o755); err != nil {
		return err
	}
	if out, err := exec.CommandContext(ctx, choir, "image", "build", "--out", *image).CombinedOutput(); err != nil {
		return fmt.Errorf("make the image of virtual machines: %w: %s", err, out)
	}
	return nil
}
