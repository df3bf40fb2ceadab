package host

import (
	"cmp"
	"encoding/binary"
	"slices"

	"choiros/internal/choir"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// seccompKill, seccompErrno and seccompAllow are return values of a seccomp filter, see
// seccomp(2).
const (
	seccompKill  = 0x80000000
	seccompErrno = 0x00050000
	seccompAllow = 0x7fff0000
)

// offsetNumber, offsetArch and offsetArgs are offsets in struct seccomp_data. Both
// supported machines are little-endian, so the low half of an argument comes first.
const (
	offsetNumber = 0
	offsetArch   = 4
	offsetArgs   = 16
)

// rule is the filter of one system call. Every path through its check ends in a return,
// and it may not rely on a loaded value.
type rule struct {
	name   string
	number uint32
	check  []bpf.Instruction
}

// SeccompProgram returns the seccomp program of every process in a sandbox, as an array of
// struct sock_filter. It allows calls without a rule: namespaces and missing capabilities
// isolate; the filter only reduces the attack surface.
func SeccompProgram() ([]byte, error) {
	raw, err := bpf.Assemble(program(rules()))
	if err != nil {
		return nil, choir.Wrap("host.filter", choir.CodeInternal, err, "assemble the seccomp program")
	}
	out := make([]byte, 0, 8*len(raw))
	for _, in := range raw {
		out = binary.LittleEndian.AppendUint16(out, in.Op)
		out = append(out, in.Jt, in.Jf)
		out = binary.LittleEndian.AppendUint32(out, in.K)
	}
	return out, nil
}

// program returns the filter. A kernel runs it for each number of a call when it is loaded, to
// remember which are always allowed, and gVisor's does so slowly, for each thread.
func program(rules []rule) []bpf.Instruction {
	p := []bpf.Instruction{
		load(offsetArch),
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: auditArch, SkipTrue: 1},
		bpf.RetConstant{Val: seccompKill},
		load(offsetNumber),
	}
	if foreignNumbers != 0 {
		p = append(p,
			bpf.JumpIf{Cond: bpf.JumpLessThan, Val: foreignNumbers, SkipTrue: 1},
			deny(unix.ENOSYS))
	}
	byNumber := slices.SortedFunc(slices.Values(rules), func(a, b rule) int { return cmp.Compare(a.number, b.number) })
	return append(p, search(byNumber)...)
}

// search returns a binary search for the rule of the loaded call's number, among rules in the order
// of their numbers, with the check of each. A call without a rule is allowed.
func search(rules []rule) []bpf.Instruction {
	switch len(rules) {
	case 0:
		return []bpf.Instruction{allow()}
	case 1:
		p := []bpf.Instruction{bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: rules[0].number, SkipTrue: uint8(len(rules[0].check))}}
		return append(append(p, rules[0].check...), allow())
	}
	middle := len(rules) / 2
	below, above := search(rules[:middle]), search(rules[middle:])
	p := []bpf.Instruction{
		bpf.JumpIf{Cond: bpf.JumpLessThan, Val: rules[middle].number, SkipTrue: 1},
		bpf.Jump{Skip: uint32(len(below))},
	}
	return append(append(p, below...), above...)
}

func load(offset uint32) bpf.Instruction { return bpf.LoadAbsolute{Off: offset, Size: 4} }

// loadArg loads the low half of system call argument n. The checked arguments are 32 bits
// wide in the kernel, or their high half cannot make a forbidden value pass.
func loadArg(n uint32) bpf.Instruction { return load(offsetArgs + 8*n) }

func allow() bpf.Instruction { return bpf.RetConstant{Val: seccompAllow} }

func deny(e unix.Errno) bpf.Instruction { return bpf.RetConstant{Val: seccompErrno | uint32(e)} }

// denyWhenBits denies the call with error e if the argument has any of the bits.
func denyWhenBits(arg, bits uint32, e unix.Errno) []bpf.Instruction {
	return []bpf.Instruction{
		loadArg(arg),
		bpf.JumpIf{Cond: bpf.JumpBitsNotSet, Val: bits, SkipTrue: 1},
		deny(e),
		allow(),
	}
}

// denyWhenOneOf denies the call with error e if the argument is one of the values.
func denyWhenOneOf(arg uint32, e unix.Errno, values ...uint32) []bpf.Instruction {
	p := []bpf.Instruction{loadArg(arg)}
	for _, v := range values {
		p = append(p, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: v, SkipTrue: 1}, deny(e))
	}
	return append(p, allow())
}

// allowOnly denies the call with error e unless the argument is one of the values.
func allowOnly(arg uint32, e unix.Errno, values ...uint32) []bpf.Instruction {
	p := []bpf.Instruction{loadArg(arg)}
	for _, v := range values {
		p = append(p, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: v, SkipTrue: 1}, allow())
	}
	return append(p, deny(e))
}

// SeccompRules returns the number of rules in the seccomp program.
func SeccompRules() int { return len(rules()) }
