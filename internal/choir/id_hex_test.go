package choir

import (
	"strings"
	"testing"
)

// TestLowerHexLooksAtEveryByte puts every byte at every place of strings that
// are otherwise good, in whole words and in what is left of one.
func TestLowerHexLooksAtEveryByte(t *testing.T) {
	for _, n := range []int{1, 7, 8, 9, 12, 16, 64} {
		for at := range n {
			for c := range 256 {
				s := []byte(strings.Repeat("9f0a", 16)[:n])
				s[at] = byte(c)
				if want := strings.IndexByte("0123456789abcdef", byte(c)) >= 0; lowerHex(string(s)) != want {
					t.Fatalf("byte %#x at %d of %d: got %v", c, at, n, !want)
				}
			}
		}
	}
}
