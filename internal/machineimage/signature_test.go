package machineimage

import (
	"strings"
	"testing"
)

func TestASignatureIsTakenOffAModule(t *testing.T) {
	mark, length := string(signatureMark), func(n byte) string { return strings.Repeat("\x00", 11) + string(rune(n)) }
	for _, c := range []struct{ name, module, want string }{
		{"signed", "\x7fELF code" + "PKCS7" + length(5) + mark, "\x7fELF code"},
		{"not signed", "\x7fELF code", "\x7fELF code"},
		{"longer than the module", "PKCS7" + length(6) + mark, "PKCS7" + length(6) + mark},
		{"the mark alone", mark, mark},
		{"nothing", "", ""},
	} {
		if got := string(unsigned([]byte(c.module))); got != c.want {
			t.Errorf("%s: %q, not %q", c.name, got, c.want)
		}
	}
}
