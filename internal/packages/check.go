package packages

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"io"
	"math"
	"os"
	"strings"

	"golang.org/x/crypto/blake2b"
)

// newHash are the digests that registries say, the strongest first.
var newHash = []struct {
	name string
	make func() hash.Hash
}{
	{"sha512", sha512.New}, {"sha384", sha512.New384}, {"sha256", sha256.New},
	{"blake2b", func() hash.Hash { h, _ := blake2b.New256(nil); return h }},
	{"sha1", sha1.New}, // of tarballs of npm from before 2017
}

// hasDigest returns the check of a digest; nil for an unknown kind, or a digest of another length.
func hasDigest(name string, want []byte) check {
	for _, kind := range newHash {
		if kind.name != name || kind.make().Size() != len(want) {
			continue
		}
		return func(f *os.File) (bool, error) {
			h := kind.make()
			_, err := io.Copy(h, io.NewSectionReader(f, 0, math.MaxInt64))
			return bytes.Equal(h.Sum(nil), want), err
		}
	}
	return nil
}

// hasHex returns the check of a digest in hexadecimal; nil for none.
func hasHex(name, want string) check {
	sum, err := hex.DecodeString(want)
	if err != nil {
		return nil
	}
	return hasDigest(name, sum)
}

// hasIntegrity returns the check of the strongest digest in the words of Subresource Integrity;
// nil for none.
func hasIntegrity(text string) check {
	for _, kind := range newHash {
		for word := range strings.FieldsSeq(text) {
			name, rest, _ := strings.Cut(word, "-")
			rest, _, _ = strings.Cut(rest, "?")
			if sum, err := base64.StdEncoding.DecodeString(rest); err == nil && name == kind.name {
				if c := hasDigest(name, sum); c != nil {
					return c
				}
			}
		}
	}
	return nil
}

// required returns a check, or ErrPass if there is none.
func required(c check) (check, error) {
	if c == nil {
		return nil, ErrPass
	}
	return c, nil
}
