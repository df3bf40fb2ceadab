// Package keyring is the contract of stores for the keys of model services, in two halves: the
// owner's page puts, deletes and lists keys, and only the model gateway reads them.
package keyring

import (
	"context"
	"errors"
	"regexp"
	"strings"

	"choiros/internal/choir"
)

// Keeper stores keys by the names of their services and never returns one. Its methods are safe
// for concurrent use. Errors are *choir.Error without the key: invalid for a name or key that
// CheckName or CheckKey refuses, unavailable if the keyring cannot be reached.
type Keeper interface {
	// Put stores a key, replacing one with the same name. It returns once the key is durable. After
	// an error the former key is unchanged, unless the error is ErrUncertain.
	Put(ctx context.Context, name, key string) error
	// Delete removes a key. A name without a key is no error.
	Delete(ctx context.Context, name string) error
	// Names returns the names that have a key, sorted.
	Names(ctx context.Context) ([]string, error)
	// Sweep deletes the keys whose names are not in names, and the leftovers of interrupted calls
	// of Put. No call of Put may run meanwhile.
	Sweep(ctx context.Context, names []string) error
	// Describe returns where a key is stored and whether it can be read.
	Describe(ctx context.Context, name string) Description
}

// ErrUncertain is wrapped by the error of a failed Put after which either the old or the new key
// may be stored.
var ErrUncertain = errors.New("which key is kept is not certain")

// Reader reads keys, for the model gateway alone.
type Reader interface {
	// Read returns the key with a name. Errors are *choir.Error: not_found if there is none; refused,
	// with the remedy, if others can read it.
	Read(ctx context.Context, name string) (string, error)
}

// Keyring stores and reads keys.
type Keyring interface {
	Keeper
	Reader
}

// Entry is a bound key, without the key.
type Entry struct {
	Name  string
	SetAt choir.Time
	// Bound says for what it may be used; nil after Put, and Open never gives such a key.
	Bound *choir.VaultBinding
}

// Change says who changes an entry, and where the log of the entry's computer stood before.
type Change struct {
	Role  choir.Role `json:"role"`
	After uint64     `json:"after"` // number of the newest event
}

// Untold is a change of an entry of which the computer's log may have no event yet.
type Untold struct {
	Name     string
	Computer choir.ID
	Change
	// Bound says for what the key may be used now; nil for an entry that the computer has no more.
	Bound *choir.VaultBinding
}

// Vault is a keyring whose keys are bound to what they may be used for.
type Vault interface {
	Keyring
	// Set puts a key with its binding, and replaces both of one with the same name in one step.
	// An entry of that name is shown to replaces first, unless that is nil, in the same step, in
	// which the change of a bound entry becomes untold. Errors are those of Put, and that of replaces.
	Set(ctx context.Context, name, key string, bound *choir.VaultBinding, by Change, replaces func(Entry) error) error
	// Remove deletes an entry which permits accepts, in one step, in which the change becomes
	// untold. Code not_found: there is none; else the error of permits.
	Remove(ctx context.Context, name string, by Change, permits func(Entry) error) error
	// Untold returns the untold changes of a computer's entries, the oldest first; of each entry
	// there is at most one, since the first change.
	Untold(ctx context.Context, computer choir.ID) ([]Untold, error)
	// Told says that the computer's log has an event of a change. A change that is told already is no
	// error.
	Told(ctx context.Context, u Untold) error
	// List returns the entries, sorted by name.
	List(ctx context.Context) ([]Entry, error)
	// Open returns the key of a bound entry which permits accepts. Code not_found: there is no
	// such entry; else the error of permits.
	Open(ctx context.Context, name string, permits func(choir.VaultBinding) error) (string, error)
	// Keys returns the keys of the entries that wanted accepts, of all for nil, by name, for what looks
	// for them where they must not be.
	Keys(ctx context.Context, wanted func(Entry) bool) (map[string]string, error)
	// Rotate encrypts the keys under a new master key and forgets the old one. A rotation that
	// breaks off loses nothing.
	Rotate(ctx context.Context) error
}

// Description tells the owner where a key is stored. It never holds the key.
type Description struct {
	Where string     // such as the path of a file
	SetAt choir.Time // when it was put; zero if unknown
	Err   error      // the error that Read would return, nil for none
}

var name = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{0,63}$`)

// CheckName returns an error with code invalid unless s is 1 to 64 lower-case letters, digits,
// dots and hyphens, beginning with a letter or a digit.
func CheckName(s string) error {
	if !name.MatchString(s) {
		return choir.Refuse("models.key", choir.ReasonNotAServiceName, choir.TextOf("name", s)).At("name")
	}
	return nil
}

// MaxKey is the largest length of a key, in bytes.
const MaxKey = 8192

// CheckKey returns an error with code invalid unless key consists of printable ASCII characters,
// so that it can be sent in a header. The error does not hold the key.
func CheckKey(key string) error {
	switch {
	case key == "":
		return choir.Refuse("models.key", choir.ReasonKeyEmpty).At("key")
	case len(key) > MaxKey:
		return choir.Refuse("models.key", choir.ReasonKeyTooLong, choir.CountOf("most", MaxKey)).At("key")
	case strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }):
		return choir.Refuse("models.key", choir.ReasonKeyNotAlone).At("key")
	}
	return nil
}
