package git

import (
	"bytes"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// LooksLikeKey reports whether a file looks like a secret that must not enter a
// commit by itself: by its name, or by how its content begins.
func LooksLikeKey(workspace, p string) bool {
	return keyName(path.Base(p)) || keyContent(filepath.Join(workspace, p))
}

var (
	keyNames      = []string{".netrc", ".pgpass", ".git-credentials", "credentials.json", "service-account.json", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"}
	keyExtensions = []string{".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx"}
	harmlessEnv   = []string{".env.example", ".env.sample", ".env.template", ".env.test"}
	// What private keys and the tokens of common services begin with.
	keyPattern = regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----|\bAKIA[0-9A-Z]{16}\b|\bsk-ant-[\w-]{20}|\bgh[pousr]_\w{36}|\bgithub_pat_\w{22}|\bxox[abprs]-[\w-]{10}`)
)

func keyName(base string) bool {
	base = strings.ToLower(base)
	switch {
	case slices.Contains(harmlessEnv, base):
		return false
	case base == ".env", strings.HasPrefix(base, ".env."):
		return true
	}
	return slices.Contains(keyNames, base) || slices.Contains(keyExtensions, path.Ext(base))
}

// keyContent looks at the first 8 KiB of a regular file.
func keyContent(file string) bool {
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	head, _ := io.ReadAll(io.LimitReader(f, 8<<10)) // what could be read is looked at
	return bytes.IndexByte(head, 0) < 0 && keyPattern.Match(head)
}
