package guest

import (
	"path/filepath"
	"strings"
)

// ProxyAddress is where tools inside find the way out: it leads to the egress
// door.
const ProxyAddress = "127.0.0.1:8801"

// systemPath ends with folders of compilers that distributions leave out.
const systemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/go/bin:/usr/local/cargo/bin"

// Path is where programs are looked for in a sandbox with these toolchains.
func Path(toolchains []string) string {
	var dirs []string
	for _, t := range toolchains {
		dirs = append(dirs, filepath.Join(t, "bin"))
	}
	return strings.Join(append(dirs, systemPath), ":")
}

// Environment is what roles and tools run with; nothing is inherited. The keys
// are no secrets: the model gateway adds the real ones outside.
func Environment(toolchains []string) []string {
	const proxy = "http://" + ProxyAddress
	return []string{
		"PATH=" + Path(toolchains),
		"HOME=/home/choir", "USER=choir", "LOGNAME=choir", "SHELL=/bin/bash",
		"LANG=C.UTF-8", "TMPDIR=/tmp",
		"http_proxy=" + proxy, "https_proxy=" + proxy, "HTTP_PROXY=" + proxy, "HTTPS_PROXY=" + proxy,
		"no_proxy=localhost,127.0.0.1,::1", "NO_PROXY=localhost,127.0.0.1,::1",
		"ANTHROPIC_BASE_URL=" + proxy + "/anthropic", "ANTHROPIC_API_KEY=choir",
		"OPENAI_BASE_URL=" + proxy + "/openai/v1", "OPENAI_API_KEY=choir",
	}
}
