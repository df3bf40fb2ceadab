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
// struct sock_filter. It refuses every call that is not in the policy, also calls of kernels to
// come.
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

// program returns the filter: a binary search among the numbers of calls, of which neighbours with
// the same answer are one range, so that few comparisons come before a call that is allowed, also
// where no kernel caches the answers (gVisor's).
func program(rules []rule) []bpf.Instruction {
	p := []bpf.Instruction{
		load(offsetArch),
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: auditArch, SkipTrue: 1},
		bpf.RetConstant{Val: seccompKill},
		load(offsetNumber),
	}
	return append(p, search(ranges(rules))...)
}

// callRange is the calls from a number on, up to the next range's.
type callRange struct {
	from  uint32
	check []bpf.Instruction
}

// ranges returns the answer to every call, by number. Calls without a rule do not exist.
func ranges(rules []rule) []callRange {
	sorted := slices.Clone(rules)
	slices.SortStableFunc(sorted, func(a, b rule) int { return cmp.Compare(a.number, b.number) })
	none := []bpf.Instruction{deny(unix.ENOSYS)}
	out := []callRange{{0, none}}
	add := func(from uint32, check []bpf.Instruction) {
		if last := len(out) - 1; last > 0 && out[last].from == from {
			out = out[:last] // it is empty
		}
		if !slices.Equal(out[len(out)-1].check, check) {
			out = append(out, callRange{from, check})
		}
	}
	for _, r := range sorted {
		add(r.number, r.check)
		add(r.number+1, none)
	}
	return out
}

// search returns the instructions that find the range of the loaded number and check the call.
func search(all []callRange) []bpf.Instruction {
	if len(all) == 1 {
		return all[0].check
	}
	middle := len(all) / 2
	below, above := search(all[:middle]), search(all[middle:])
	p := []bpf.Instruction{
		bpf.JumpIf{Cond: bpf.JumpLessThan, Val: all[middle].from, SkipTrue: 1}, // a far jump has no condition
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

// SeccompRules returns the number of calls that the seccomp program has an answer of its own for;
// there is one answer for all others.
func SeccompRules() int { return len(rules()) }
