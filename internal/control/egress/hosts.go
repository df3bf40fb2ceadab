package egress

import (
	"slices"

	"choiros/internal/packages"
)

// gitAndPackages are the hosts of mode git+pkg: git hosts and package registries with the
// hosts that they send their clients to. It is the one place of the product that names them.
// Everybody can have an account at most of them, so that the mode keeps a task from other
// hosts, and keeps nothing secret from somebody who waits at one of these.
var gitAndPackages = []string{
	// Git.
	"github.com", "codeload.github.com", "objects.githubusercontent.com", "release-assets.githubusercontent.com",
	"raw.githubusercontent.com", "github-cloud.githubusercontent.com",
	"gitlab.com", "bitbucket.org", "codeberg.org", "git.sr.ht",
	// JavaScript.
	"registry.npmjs.org", "registry.yarnpkg.com",
	// Python.
	"pypi.org", "files.pythonhosted.org",
	// Go.
	"proxy.golang.org", "sum.golang.org",
	// Rust.
	"index.crates.io", "static.crates.io", "crates.io",
	// Ruby.
	"rubygems.org", "index.rubygems.org",
	// Java.
	"repo1.maven.org", "repo.maven.apache.org", "plugins.gradle.org",
	// PHP, .NET, Elixir.
	"repo.packagist.org", "packagist.org", "api.nuget.org", "repo.hex.pm",
	// Debian, Ubuntu, Alpine.
	"deb.debian.org", "security.debian.org", "archive.ubuntu.com", "security.ubuntu.com", "dl-cdn.alpinelinux.org",
}

// unencrypted are those of gitAndPackages whose clients ask on port 80 and check signatures.
var unencrypted = []string{"deb.debian.org", "security.debian.org", "archive.ubuntu.com", "security.ubuntu.com", "dl-cdn.alpinelinux.org"}

// listed returns the rules of mode git+pkg.
func listed() []Rule {
	var rules []Rule
	for _, host := range gitAndPackages {
		rules = append(rules, Rule{Host: host, Port: 443, Known: true})
	}
	for _, host := range unencrypted {
		rules = append(rules, Rule{Host: host, Port: 80, Methods: []string{"GET", "HEAD"}, Known: true})
	}
	return rules
}

// IsListed reports whether a host is of the list of mode git+pkg.
func IsListed(host string) bool { return slices.Contains(gitAndPackages, host) }

// Registries are the registries of gitAndPackages whose content the package cache keeps.
func Registries() []packages.Registry {
	return []packages.Registry{
		packages.NPM{Names: []string{"registry.npmjs.org", "registry.yarnpkg.com"}},
		packages.PyPI{Index: "pypi.org", Files: "files.pythonhosted.org"},
		packages.NewGoModules("proxy.golang.org", "sum.golang.org", "sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8"),
		packages.Cargo{Index: "index.crates.io", Files: "static.crates.io"},
	}
}
