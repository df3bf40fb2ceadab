package guest

import (
	"os"
	"path/filepath"
	"strings"
)

// ProxyAddress is the address of the HTTP proxy for tools inside a sandbox; it leads to
// the egress door.
const ProxyAddress = "127.0.0.1:8801"

// ProxyListens is the address on which init listens for the proxy's clients: every
// address of the sandbox's only network, loopback, because the address that a program
// uses carries its choir.CallMark.
const ProxyListens = "0.0.0.0:8801"

// NamesListen is the address at which init answers DNS questions; sandboxes' resolv.conf has it.
const NamesListen = "127.0.0.1:53"

// systemPath is the part of PATH after the toolchains. Its last folders are those of
// compilers that distributions leave out.
const systemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/go/bin:/usr/local/cargo/bin"

// Path returns the PATH of programs in a sandbox with these toolchain folders.
func Path(toolchains []string) string {
	var dirs []string
	for _, t := range toolchains {
		dirs = append(dirs, filepath.Join(t, "bin"))
	}
	return strings.Join(append(dirs, systemPath), ":")
}

// Home is the home folder inside every sandbox.
const Home = "/home/choir"

// Environment returns the whole environment of roles and tools, for these toolchain
// folders and a folder of certificates that may be missing; they inherit nothing else. The
// API keys in it are placeholders: the model gateway adds the real ones outside.
func Environment(toolchains []string, trust string) []string {
	const proxy = "http://" + ProxyAddress
	return append(trusting(trust), []string{
		"PATH=" + Path(toolchains),
		"HOME=" + Home, "USER=choir", "LOGNAME=choir", "SHELL=/bin/bash",
		"LC_CTYPE=C.UTF-8", "TMPDIR=/tmp",
		"http_proxy=" + proxy, "https_proxy=" + proxy, "HTTP_PROXY=" + proxy, "HTTPS_PROXY=" + proxy,
		"no_proxy=localhost,127.0.0.1,::1", "NO_PROXY=localhost,127.0.0.1,::1",
		"ANTHROPIC_BASE_URL=" + proxy + "/anthropic", "ANTHROPIC_API_KEY=choir",
		"OPENAI_BASE_URL=" + proxy + "/openai/v1", "OPENAI_API_KEY=choir",
	}...)
}

// trusting returns the variables by which programs trust what is in a folder besides the
// host's roots; none if it has nothing. REQUESTS_CA_BUNDLE and CURL_CA_BUNDLE are not
// among them: Python's requests prefers both to the certificates that a program names.
func trusting(folder string) (env []string) {
	bundle := folder + "/bundle.pem"
	if _, err := os.Stat(bundle); err != nil {
		return nil
	}
	for _, name := range []string{"SSL_CERT_FILE", "PIP_CERT", "GIT_SSL_CAINFO", "CARGO_HTTP_CAINFO"} {
		env = append(env, name+"="+bundle)
	}
	return append(env, "NODE_EXTRA_CA_CERTS="+folder+"/choir-egress.pem")
}
