package machineimage

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"choiros/internal/choir"
)

// Fields of the header of a bzImage, see Documentation/arch/x86/boot.rst of Linux.
const (
	setupSectors  = 0x1f1 // one byte
	headerMagic   = 0x202
	protocol      = 0x206
	payloadOffset = 0x248
	payloadLength = 0x24c
	headerBytes   = 0x250
)

// mostKernel bounds an uncompressed kernel.
const mostKernel = 512 << 20

var elfMagic = []byte("\x7fELF")

// Uncompressed returns the ELF file in a Linux kernel, which some monitors load in its place.
// A kernel that is one is returned as it is. Code invalid: it is no kernel, or compressed in a
// way that cannot be read here.
func Uncompressed(kernel []byte) ([]byte, error) {
	const op = "image.kernel"
	if bytes.HasPrefix(kernel, elfMagic) {
		return kernel, nil
	}
	if len(kernel) < headerBytes || string(kernel[headerMagic:headerMagic+4]) != "HdrS" || binary.LittleEndian.Uint16(kernel[protocol:]) < 0x208 {
		return nil, choir.Refuse(op, choir.ReasonKernelOther)
	}
	from := (int64(kernel[setupSectors])+1)*512 + int64(binary.LittleEndian.Uint32(kernel[payloadOffset:]))
	to := from + int64(binary.LittleEndian.Uint32(kernel[payloadLength:]))
	if to > int64(len(kernel)) {
		return nil, choir.Refuse(op, choir.ReasonKernelShort)
	}
	payload := kernel[from:to]
	elf, err := decompress(payload)
	if err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(elf, elfMagic) || len(elf) != int(binary.LittleEndian.Uint32(payload[len(payload)-lengthBytes:])) {
		return nil, choir.Refuse(op, choir.ReasonKernelNoELF)
	}
	return elf, nil
}

// lengthBytes is how many bytes at the end of the payload are the length of the ELF file. In
// gzip they are a part of the format; behind the others the kernel's build puts them.
const lengthBytes = 4

// decompress decompresses the payload of a kernel.
func decompress(payload []byte) ([]byte, error) {
	const op = "image.kernel"
	if len(payload) < 2*lengthBytes {
		return nil, choir.Refuse(op, choir.ReasonKernelEmpty)
	}
	in := io.Reader(bytes.NewReader(payload[:len(payload)-lengthBytes]))
	var out io.Reader
	var err error
	switch {
	case bytes.HasPrefix(payload, []byte{0x02, 0x21, 0x4c, 0x18}):
		out = lz4.NewReader(in)
	case bytes.HasPrefix(payload, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		d, failed := zstd.NewReader(in, zstd.WithDecoderConcurrency(1))
		if out, err = d, failed; err == nil {
			defer d.Close()
		}
	case bytes.HasPrefix(payload, []byte{0x1f, 0x8b}):
		out, err = gzip.NewReader(bytes.NewReader(payload))
	default:
		return nil, choir.Refuse(op, choir.ReasonKernelCompressed, choir.TextOf("given", fmt.Sprintf("%x", payload[:min(6, len(payload))])))
	}
	var elf bytes.Buffer
	if err == nil {
		_, err = io.Copy(&elf, io.LimitReader(out, mostKernel))
	}
	return elf.Bytes(), choir.Wrap(op, choir.CodeInvalid, err, "unpack the kernel")
}
