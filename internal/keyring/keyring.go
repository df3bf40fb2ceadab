// Package keyring is the contract of what keeps the keys of model services. The
// control plane holds it in two halves: the owner's page puts and deletes keys
// and lists their names, and only the model gateway reads one.
package keyring

import (
	"context"
	"errors"
	"regexp"
	"strings"

	"choiros/internal/choir"
)

// Keeper keeps keys by the names of their services. It never gives one back.
// Its methods may be called by many goroutines. Errors are *choir.Error and hold
// no key: invalid for a name or a key that CheckName or CheckKey refuses,
// unavailable when the keyring cannot be reached.
type Keeper interface {
	// Put keeps a key, in place of the one with that name. It returns once the key
	// survives a crash. When it fails, the key from before is kept, unless the error
	// is ErrUncertain.
	Put(ctx context.Context, name, key string) error
	// Delete removes a key. A name without a key is no error.
	Delete(ctx context.Context, name string) error
	// Names lists the names that have a key, sorted.
	Names(ctx context.Context) ([]string, error)
	// Sweep deletes the keys with other names than those, and what interrupted calls
	// of Put left. Nobody may call Put meanwhile.
	Sweep(ctx context.Context, names []string) error
	// Describe says where a key is and whether it can be read now.
	Describe(ctx context.Context, name string) Description
}

// ErrUncertain is what a failed Put's error is when either key may be kept: the one
// from before or the new one.
var ErrUncertain = errors.New("which key is kept is not certain")

// Reader reads keys, for the model gateway alone.
type Reader interface {
	// Read returns the key with a name. Errors are *choir.Error: not_found when
	// there is none, refused when it is not safe where it is, with the remedy.
	Read(ctx context.Context, name string) (string, error)
}

// Keyring is both halves.
type Keyring interface {
	Keeper
	Reader
}

// Description says where a key is, in words for its owner, and never what it is.
type Description struct {
	Where string     // such as the path of a file
	SetAt choir.Time // when it was put; zero when that is not known
	Err   error      // why Read would fail; nil when it would not
}

var name = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{0,63}$`)

// CheckName refuses a name that is not 1 to 64 lower-case letters, digits, dots
// and hyphens, beginning with a letter or a digit.
func CheckName(s string) error {
	if !name.MatchString(s) {
		return choir.Invalid("name", "%q is not a name: lower-case letters, digits, dots and hyphens, 64 at most", s)
	}
	return nil
}

// MaxKey is the length of the longest key, in bytes.
const MaxKey = 8192

// CheckKey refuses what cannot be sent in the header of a request: characters
// that do not print, and anything but ASCII. The error does not hold the key.
func CheckKey(key string) error {
	switch {
	case key == "":
		return choir.Invalid("key", "the key is empty")
	case len(key) > MaxKey:
		return choir.Invalid("key", "the key has more than %d characters", MaxKey)
	case strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }):
		return choir.Invalid("key", "the key has a space, a line break or a character that no key has").WithRemedy("paste the key alone")
	}
	return nil
}
