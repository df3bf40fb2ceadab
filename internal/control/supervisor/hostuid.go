package supervisor

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/user"
	"strconv"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
)

// The range from which host users of sandboxes are drawn. No other program assigns ids
// in it: sssd uses ids up to 2000200000 by default, and systemd reserves those from
// 2147352576 for foreign images.
const (
	firstDrawnUID = 2_000_200_001
	lastDrawnUID  = 2_147_352_575
)

// maxDraws is the maximum of draws for one number. If all are taken, drawing fails.
const maxDraws = 1000

// idRange is a range of user or group ids that a host assigns to user namespaces.
type idRange struct{ first, count int }

// has reports whether an id is in the range.
func (r idRange) has(id int) bool { return id >= r.first && id-r.first < r.count }

// uidAllocator draws host user ids for sandboxes.
type uidAllocator struct {
	// named reports whether the host has a user or a group with an id.
	named    func(id int) (bool, error)
	reserved []idRange // of /etc/subuid and /etc/subgid
	random   io.Reader
}

// newUIDAllocator returns an allocator that avoids the ranges in the host's subuid and
// subgid files.
func newUIDAllocator(random io.Reader) (uidAllocator, error) {
	h := uidAllocator{named: namedOnHost, random: random}
	for _, path := range []string{"/etc/subuid", "/etc/subgid"} {
		f, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return h, choir.Wrap("choir.hostuser", choir.CodeUnavailable, err, "read which user numbers this host gives out")
		}
		h.reserved = append(h.reserved, subordinate(f)...)
		f.Close()
	}
	return h, nil
}

// subordinate parses the ranges of a subuid(5) file. Malformed lines are skipped.
func subordinate(r io.Reader) []idRange {
	var out []idRange
	for lines := bufio.NewScanner(r); lines.Scan(); {
		fields := strings.Split(strings.TrimSpace(lines.Text()), ":")
		if len(fields) != 3 {
			continue
		}
		first, err := strconv.Atoi(fields[1])
		count, err2 := strconv.Atoi(fields[2])
		if err == nil && err2 == nil && first >= 0 && count > 0 {
			out = append(out, idRange{first, count})
		}
	}
	return out
}

// namedOnHost reports whether the host has a user or a group with an id.
func namedOnHost(id int) (bool, error) {
	text := strconv.Itoa(id)
	_, err := user.LookupId(text)
	var noUser user.UnknownUserIdError
	if errors.As(err, &noUser) || errors.Is(err, fs.ErrNotExist) {
		_, err = user.LookupGroupId(text)
	}
	var noGroup user.UnknownGroupIdError
	if errors.As(err, &noGroup) || errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// draw returns a random id that is no user or group of the host, not reserved for
// namespaces, and not in used. Code unavailable: maxDraws in a row are taken.
func (h uidAllocator) draw(used map[int]bool) (int, error) {
	for range maxDraws {
		var b [4]byte
		if _, err := io.ReadFull(h.random, b[:]); err != nil {
			return 0, choir.Wrap("choir.hostuser", choir.CodeInternal, err, "draw the number of a host user")
		}
		id := firstDrawnUID + int(binary.LittleEndian.Uint32(b[:])%(lastDrawnUID-firstDrawnUID+1))
		owner, err := h.ownerOf(id)
		if err != nil {
			return 0, err
		}
		if owner == "" && !used[id] {
			return id, nil
		}
	}
	return 0, choir.Refuse("choir.hostuser", choir.ReasonNoUserNumber, choir.CountOf("n", maxDraws), choir.CountOf("from", firstDrawnUID), choir.CountOf("to", lastDrawnUID))
}

// ownerOf describes what on the host has an id, besides choir; "" for nothing.
func (h uidAllocator) ownerOf(id int) (string, error) {
	for _, r := range h.reserved {
		if r.has(id) {
			return "/etc/subuid or /etc/subgid", nil
		}
	}
	named, err := h.named(id)
	if err != nil {
		return "", choir.Wrap("choir.hostuser", choir.CodeUnavailable, err, "look up user %d on this host", id)
	}
	if named {
		return "a user or group of this host", nil
	}
	return "", nil
}

// assign draws host users for the sandboxes of e that have none, and adds them to used.
// It reports whether there were any.
func (h uidAllocator) assign(e *entry, used map[int]bool) (bool, error) {
	drawn := false
	for _, uid := range []*int{&e.HostUID, &e.DirectorUID} {
		if *uid != 0 {
			continue
		}
		id, err := h.draw(used)
		if err != nil {
			return drawn, err
		}
		*uid, used[id], drawn = id, true, true
	}
	return drawn, nil
}

// usedUIDs returns the host users of all computers.
func (o owner) usedUIDs() map[int]bool {
	used := map[int]bool{}
	for _, e := range o.Computers {
		used[e.HostUID], used[e.DirectorUID] = true, true
	}
	return used
}

// assignUIDs draws host users for the computers that lack one, and reports whether there
// were any. An assigned id never changes, because it owns files of the workspace.
func (o owner) assignUIDs(h uidAllocator) (bool, error) {
	used, any := o.usedUIDs(), false
	for i := range o.Computers {
		drawn, err := h.assign(&o.Computers[i], used)
		if err != nil {
			return any, err
		}
		any = any || drawn
	}
	return any, nil
}

// hostUserChecks returns a failed check for each host user of a sandbox that is also
// used elsewhere. An older choir may have assigned one without looking, or the host may
// have created a user later.
func hostUserChecks(random io.Reader, all []entry) []sandbox.Check {
	if !IsRoot() {
		return nil
	}
	users, err := newUIDAllocator(random)
	if err != nil {
		return []sandbox.Check{{Name: "host users", Detail: err.Error()}}
	}
	return users.shared(all)
}

// shared returns a failed check for each host user that two sandboxes share or the host
// uses too.
func (h uidAllocator) shared(all []entry) []sandbox.Check {
	var out []sandbox.Check
	first := map[int]string{}
	for _, e := range all {
		for _, of := range []struct {
			role choir.Role
			uid  int
		}{{choir.RoleAssociate, e.HostUID}, {choir.RoleDirector, e.DirectorUID}} {
			owner, err := h.ownerOf(of.uid)
			if err != nil {
				owner = err.Error()
			}
			if other := first[of.uid]; owner == "" && other != "" {
				owner = other
			}
			if first[of.uid] == "" {
				first[of.uid] = "the " + string(of.role) + " of " + e.Name
			}
			if owner != "" {
				out = append(out, sandbox.Check{
					Name: "host user of " + e.Name, Detail: "user " + strconv.Itoa(of.uid) + " of its " + string(of.role) + " is also of " + owner,
					Remedy: "export this computer and import it again: choir export, choir import",
				})
			}
		}
	}
	return out
}
