package main

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"choiros/internal/choir"
	"choiros/internal/guestbin"
	"choiros/internal/machineimage"
	"choiros/internal/timeline"
)

func newImageCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "image", Short: "Make what virtual machines boot", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	var out, packages string
	build := &cobra.Command{
		Use: "build", Short: "Write a root file system, and a kernel, for the microvm rung", Args: cobra.NoArgs,
		Long: `Write a root file system of this machine's Debian packages to FILE, with Python, Node, git
and the guest binaries, and beside it FILE.kernel with its modules, and FILE.manifest.json,
which lists what is in it with digests. Nothing is installed; the kernel's package is
downloaded by apt-get. The same packages give the same bytes.

No file in the image is newer than SOURCE_DATE_EPOCH, or, without it, than the newest file
of a package.`,
		Example: "  choir image build --out /var/lib/choir/machine.img\n  choir image build --out machine.img --packages \"build-essential cmake\"",
		RunE: func(c *cobra.Command, _ []string) error {
			if out == "" {
				return missing(c, "--out")
			}
			return runImageBuild(c.Context(), a, out, strings.Fields(packages))
		},
	}
	build.Flags().StringVar(&out, "out", "", "the root file system to write")
	build.Flags().StringVar(&packages, "packages", "", "installed packages that it has besides, with spaces between them")
	c.AddCommand(build)
	return c
}

// runImageBuild builds the image and prints what is in it and the lines of the configuration.
func runImageBuild(ctx context.Context, a *app, out string, packages []string) error {
	path, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	c := machineimage.Config{Out: path, Environ: os.Environ(), Packages: packages, Guest: map[string][]byte{}, Say: func(line string) {
		if !a.json {
			a.printf("%s ...\n", line)
		}
	}}
	if epoch := a.env("SOURCE_DATE_EPOCH"); epoch != "" {
		n, err := strconv.ParseInt(epoch, 10, 64)
		if err != nil || n <= 0 {
			return choir.RefuseField("SOURCE_DATE_EPOCH", choir.ReasonEpochWrong, choir.TextOf("given", epoch))
		}
		c.Epoch = time.Unix(n, 0)
	}
	for _, name := range guestbin.Names() {
		if c.Guest[name], err = guestbin.Read(name); err != nil {
			return err
		}
	}
	m, err := machineimage.Build(ctx, c)
	if err != nil {
		return err
	}
	if a.json {
		a.printJSON(m)
		return nil
	}
	a.printf("%s: Linux %s, %s, %s, %d MiB, digest %s\n", path, m.Kernel.Release,
		timeline.Count(len(m.Packages), "package"), timeline.Count(len(m.Files), "file"), m.Root.Bytes>>20, m.Root.Digest)
	a.printf("What is in it: %s\nUse it with these lines of choir.toml:\n\n[runtime]\nmode = \"microvm\"\n\n[microvm]\nkernel = %q\nrootfs = %q\n",
		path+machineimage.ManifestSuffix, path+machineimage.KernelSuffix, path)
	return nil
}
