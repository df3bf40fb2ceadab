package choir

import (
	"crypto/sha256"
	"encoding/binary"
	"net/netip"
	"strconv"
)

// CallMark identifies the task, and the tool call of it, for which a program in a sandbox
// opens a stream. It is encoded in the loopback address at which the program reaches the
// egress door; programs get it in environment variables, which their children inherit.
// Any program can use any address: a mark attributes traffic and grants nothing.
type CallMark struct {
	task uint16 // from markFirst to markLast
	call uint16 // 0 for none, or for one beyond markCalls
}

// markFirst, markLast and markCalls bound the parts of an address: 127, then 12 bits of
// task number and 12 bits of call number. Task numbers from markFirst to markLast give
// neither 127.0.0.1 nor a broadcast address.
const (
	markFirst = 16
	markLast  = 0xfef
	markCalls = 0xfff
)

// MarkOf returns the mark of a task's tool call. Calls count from 1; call 0, or one above
// markCalls, gives the mark of the task alone.
func MarkOf(task ID, call int) CallMark {
	sum := sha256.Sum256([]byte("mark " + string(task)))
	m := CallMark{task: markFirst + binary.BigEndian.Uint16(sum[:])%(markLast-markFirst+1)}
	if call > 0 && call <= markCalls {
		m.call = uint16(call)
	}
	return m
}

// Addr returns the loopback address that carries the mark.
func (m CallMark) Addr() netip.Addr {
	return netip.AddrFrom4([4]byte{127, byte(m.task >> 4), byte(m.task<<4) | byte(m.call>>8), byte(m.call)})
}

// MarkAt returns the mark that an address carries; ok is false for an address without a mark.
func MarkAt(at netip.Addr) (m CallMark, ok bool) {
	if !at.Is4() {
		return m, false
	}
	b := at.As4()
	m = CallMark{task: uint16(b[1])<<4 | uint16(b[2])>>4, call: uint16(b[2]&15)<<8 | uint16(b[3])}
	return m, b[0] == 127 && m.task >= markFirst && m.task <= markLast
}

// Of reports whether the mark belongs to a task, whichever its tool call. Two tasks may
// share a mark.
func (m CallMark) Of(task ID) bool { return MarkOf(task, 0).task == m.task }

// Call returns the id of the marked tool call of a task; empty if the mark names no call.
// The mark must belong to the task, see Of.
func (m CallMark) Call(task ID) ID {
	if m.call == 0 {
		return ""
	}
	return ToolCallID(task, int(m.call))
}

// ToolCallID returns the id of a task's tool call, derived from the task's id and the
// call's number, counted from 1.
func ToolCallID(task ID, call int) ID { return DeriveID(task, "call", strconv.Itoa(call)) }
