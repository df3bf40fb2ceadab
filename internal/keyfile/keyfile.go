// Package keyfile tells files that look like secrets, by their name or by how
// their content begins. They stay in the computer: no commit, fork or export
// takes them along by itself.
package keyfile

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Head is how much of a file Content wants to see, in bytes.
const Head = 8 << 10

var (
	names       = []string{".netrc", ".pgpass", ".git-credentials", "credentials.json", "service-account.json", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"}
	extensions  = []string{".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx"}
	harmlessEnv = []string{".env.example", ".env.sample", ".env.template", ".env.test"}
	// What private keys and the tokens of common services begin with.
	pattern = regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----|\bAKIA[0-9A-Z]{16}\b|\bsk-ant-[\w-]{20}|\bgh[pousr]_\w{36}|\bgithub_pat_\w{22}|\bxox[abprs]-[\w-]{10}`)
)

// Name reports whether the last part of a path is a usual name of a secret.
func Name(base string) bool {
	base = strings.ToLower(base)
	switch {
	case slices.Contains(harmlessEnv, base):
		return false
	case base == ".env", strings.HasPrefix(base, ".env."):
		return true
	}
	return slices.Contains(names, base) || slices.Contains(extensions, path.Ext(base))
}

// Content reports whether a text that begins like this holds a secret; head is
// at most the first Head bytes.
func Content(head []byte) bool {
	return bytes.IndexByte(head, 0) < 0 && pattern.Match(head)
}
