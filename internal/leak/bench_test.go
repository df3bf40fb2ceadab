package leak_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"testing"

	"choiros/internal/leak"
)

// BenchmarkStripping reads a stream without secrets, of random bytes as in a pack of git.
func BenchmarkStripping(b *testing.B) {
	in := make([]byte, 8<<20)
	random := rand.NewChaCha8([32]byte{})
	_, _ = random.Read(in)
	s := leak.New(map[string]string{"k": secret})
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		if n, err := io.Copy(io.Discard, s.Reader(bytes.NewReader(in))); n != int64(len(in)) || err != nil {
			b.Fatal(n, err)
		}
	}
}
