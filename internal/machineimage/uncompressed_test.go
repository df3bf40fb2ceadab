package machineimage

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"choiros/internal/choir"
)

// elfText stands for the ELF file in a kernel.
var elfText = append([]byte("\x7fELF"), bytes.Repeat([]byte("kernel "), 10_000)...)

// bzImage returns a kernel with a payload.
func bzImage(payload []byte) []byte {
	out := make([]byte, 2*512)
	out[setupSectors] = 1
	copy(out[headerMagic:], "HdrS")
	binary.LittleEndian.PutUint16(out[protocol:], 0x20f)
	binary.LittleEndian.PutUint32(out[payloadOffset:], 64)
	binary.LittleEndian.PutUint32(out[payloadLength:], uint32(len(payload)))
	return append(append(out, make([]byte, 64)...), payload...)
}

// compressed returns the ELF file compressed by w, with its length behind it.
func compressed(t *testing.T, open func(io.Writer) (io.WriteCloser, error), length bool) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := open(&out)
	if err != nil {
		t.Fatal(err)
	}
	w.Write(elfText)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if length {
		return binary.LittleEndian.AppendUint32(out.Bytes(), uint32(len(elfText)))
	}
	return out.Bytes()
}

func lz4Payload(t *testing.T) []byte {
	return compressed(t, func(w io.Writer) (io.WriteCloser, error) {
		z := lz4.NewWriter(w)
		return z, z.Apply(lz4.LegacyOption(true))
	}, true)
}

func TestTheELFFileOfAKernel(t *testing.T) {
	t.Parallel()
	for name, kernel := range map[string][]byte{
		"lz4":  bzImage(lz4Payload(t)),
		"gzip": bzImage(compressed(t, func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil }, false)),
		"zstd": bzImage(compressed(t, func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) }, true)),
		"none": elfText,
	} {
		if got, err := Uncompressed(kernel); err != nil || !bytes.Equal(got, elfText) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
}

func TestKernelsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	whole := bzImage(lz4Payload(t))
	wrong := lz4Payload(t)
	wrong[len(wrong)-1]++
	for name, c := range map[string]struct {
		kernel []byte
		why    string
	}{
		"nothing":            {nil, "no kernel"},
		"text":               {[]byte(strings.Repeat("x", 4096)), "no kernel"},
		"cut":                {whole[:len(whole)-1], "cut short"},
		"an empty payload":   {bzImage(nil), "nothing in it"},
		"another length":     {bzImage(wrong), "whole ELF"},
		"xz":                 {bzImage([]byte("\xfd7zXZ\x00and so on")), "choir cannot read"},
		"a stream cut short": {bzImage(append(lz4Payload(t)[:40], 0, 0, 0, 0)), "unpack"},
	} {
		if _, err := Uncompressed(c.kernel); choir.CodeOf(err) != choir.CodeInvalid || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzUncompressed(f *testing.F) {
	f.Add([]byte("\x7fELF"))
	f.Fuzz(func(t *testing.T, payload []byte) {
		if got, err := Uncompressed(bzImage(payload)); err == nil && !bytes.HasPrefix(got, elfMagic) {
			t.Errorf("%.20q", got)
		}
	})
}
