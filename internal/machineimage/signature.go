package machineimage

import (
	"bytes"
	"encoding/binary"
)

// signatureMark ends a signed kernel module. Before it stand a struct module_signature, which ends
// with the length of the signature, and before that the signature, see
// include/linux/module_signature.h of Linux.
var signatureMark = []byte("~Module signature appended~\n")

const signatureStruct = 12 // bytes

// unsigned returns a kernel module without its signature, which takes the kernel of an emulated
// machine some 7 ms to check and protects nothing: the module's file stands beside the kernel's.
func unsigned(module []byte) []byte {
	rest, signed := bytes.CutSuffix(module, signatureMark)
	if !signed || len(rest) < signatureStruct {
		return module
	}
	length := uint64(binary.BigEndian.Uint32(rest[len(rest)-4:]))
	rest = rest[:len(rest)-signatureStruct]
	if length > uint64(len(rest)) {
		return module
	}
	return rest[:uint64(len(rest))-length]
}
