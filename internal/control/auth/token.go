package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"

	"choiros/internal/choir"
)

// NewToken returns a random token of 32 bytes in base64.
func NewToken() (string, error) {
	var b [32]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", choir.Wrap("auth.token", choir.CodeInternal, err, "read randomness")
	}
	return base64.RawURLEncoding.EncodeToString(b[:]), nil
}

// HashOf returns the SHA-256 of a token in hexadecimal.
func HashOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}
