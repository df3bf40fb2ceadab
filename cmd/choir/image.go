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
)

func newImageCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "image", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	var out, packages string
	build := &cobra.Command{
		Use: "build", Args: cobra.NoArgs,
		Example: "  choir image build --out /var/lib/choir/machine.img\n  choir image build --out machine.img --packages \"build-essential cmake\"",
		RunE: func(c *cobra.Command, _ []string) error {
			if out == "" {
				return missing(c, "--out")
			}
			return runImageBuild(c.Context(), a, out, strings.Fields(packages))
		},
	}
	build.Flags().StringVar(&out, "out", "", "")
	build.Flags().StringVar(&packages, "packages", "", "")
	c.AddCommand(build)
	return c
}

// runImageBuild builds the image and prints what is in it and the lines of the configuration.
func runImageBuild(ctx context.Context, a *app, out string, packages []string) error {
	path, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	c := machineimage.Config{Out: path, Environ: os.Environ(), Packages: packages, Guest: map[string][]byte{}, Begins: func(step machineimage.Step) {
		if !a.json {
			a.printf("%s ...\n", a.term("image", step))
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
	a.say("image.made", "path", path, "kernel", m.Kernel.Release, "packages", a.count("package", len(m.Packages)),
		"files", a.count("file", len(m.Files)), "size", m.Root.Bytes>>20, "digest", m.Root.Digest)
	a.say("image.use", "manifest", path+machineimage.ManifestSuffix)
	a.printf("\n[runtime]\nmode = \"microvm\"\n\n[microvm]\nkernel = %q\nrootfs = %q\n", path+machineimage.KernelSuffix, path)
	return nil
}
