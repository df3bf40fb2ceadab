package main

import (
	"context"
	"io"
	"net/http"

	"github.com/spf13/cobra"

	"choiros/internal/choir"
	"choiros/internal/control/supervisor"
	"choiros/internal/durablefile"
	"choiros/internal/fault"
	"choiros/internal/timeline"
)

func newExportCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "export FILE",
		Example: "  choir export computer.choir\n  choir export - | zstd > computer.choir.zst",
		RunE: func(c *cobra.Command, args []string) error {
			return runExport(c.Context(), a, args[0])
		},
	}
}

// exported describes a finished export.
type exported struct {
	File     string              `json:"file"`
	Bytes    int64               `json:"bytes"`
	Computer choir.ID            `json:"computer"`
	Seq      uint64              `json:"at_seq"`
	Hash     choir.Digest        `json:"hash"`
	Archive  choir.Digest        `json:"archive"`
	Withheld []timeline.Withheld `json:"withheld"`
}

func runExport(ctx context.Context, a *app, file string) error {
	if file == "-" {
		_, err := a.export(ctx, a.raw)
		return err
	}
	var out exported
	err := writeWhole(file, func(w io.Writer) (err error) {
		out, err = a.export(ctx, w)
		return err
	})
	if err != nil {
		return err
	}
	out.File = file
	if a.json {
		a.printJSON(out)
		return nil
	}
	a.say("export.wrote", "file", file, "size", a.size(out.Bytes), "seq", out.Seq)
	return nil
}

// exportFile writes the exported file durably, with fault points.
var exportFile = durablefile.Files{
	BeforeSync:       func() { fault.Point("export.sync") },
	BeforeRename:     func() { fault.Point("export.rename") },
	BeforeFolderSync: func() { fault.Point("export.folder.sync") },
}

// writeWhole creates a file with the output of write, durably and completely or not at all. It
// returns write's error; other errors have code unavailable.
func writeWhole(path string, write func(io.Writer) error) error {
	var own error
	err := exportFile.WriteFrom(path, func(w io.Writer) error {
		own = write(w)
		return own
	})
	if err != nil && own == nil {
		err = choir.Refuse("", choir.ReasonFileNotWritten, choir.TextOf("path", path), choir.TextOf("why", err))
	}
	return err
}

// export writes the archive of the computer to w, from the running choir or the data folder, and
// warns of left-out files.
func (a *app) export(ctx context.Context, w io.Writer) (exported, error) {
	c, err := a.dial(ctx)
	if choir.CodeOf(err) == choir.CodeUnavailable {
		return a.exportStopped(ctx, w)
	}
	if err != nil {
		return exported{}, err
	}
	res, err := c.do(ctx, http.MethodGet, c.path("/archive"), nil)
	if err != nil {
		return exported{}, err
	}
	defer res.Body.Close()
	return a.copyArchive(w, res.Body)
}

// exportStopped exports from a data folder on which no choir runs.
func (a *app) exportStopped(ctx context.Context, w io.Writer) (out exported, err error) {
	err = a.withReader(ctx, func(r *supervisor.Reader, c *client) error {
		one, err := r.Computer(c.computer)
		if err != nil {
			return err
		}
		e, err := one.Copier().PrepareExport(ctx)
		if err != nil {
			return err
		}
		defer e.Close()
		read, write := io.Pipe()
		go func() { write.CloseWithError(e.Write(ctx, write)) }()
		defer read.Close()
		out, err = a.copyArchive(w, read)
		return err
	})
	return out, err
}

// copyArchive copies an archive from r to w and returns its description, from its manifest.
func (a *app) copyArchive(w io.Writer, r io.Reader) (exported, error) {
	counted := &counter{w: w}
	m, digest, err := timeline.ReadArchive(io.TeeReader(r, counted))
	if err == nil {
		_, err = io.Copy(counted, r)
	}
	if err != nil {
		return exported{}, choir.Wrap("", "", err, "the export broke off")
	}
	paths := make([]string, 0, len(m.Withheld))
	for _, w := range m.Withheld {
		if n := len(paths); n == 0 || paths[n-1] != w.Path {
			paths = append(paths, w.Path)
		}
	}
	a.warnWithheld(paths)
	return exported{Bytes: counted.n, Computer: m.Computer, Seq: m.Seq, Hash: m.Hash, Archive: digest, Withheld: m.Withheld}, nil
}

// counter is a writer that counts the written bytes.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}
