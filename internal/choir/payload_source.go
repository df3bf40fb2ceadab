package choir

import "strings"

// DesktopUpgraded says that the workspace's copy of the desktop's source took
// over what a newer shipped one changed.
type DesktopUpgraded struct {
	Version   string   `json:"version" choir:"len=1..100" doc:"Version of choir that carries the source."`
	Base      Digest   `json:"base" choir:"digest" doc:"A tree with the source as shipped and nothing else: what the next upgrade is merged from."`
	Snapshot  Digest   `json:"snapshot" choir:"digest" doc:"The workspace now."`
	Before    Digest   `json:"before" choir:"digest" doc:"The workspace just before, so that this can be rewound."`
	Files     int64    `json:"files" choir:"range=0..9007199254740991" doc:"Paths that were rewritten."`
	Conflicts []string `json:"conflicts,omitempty" choir:"len=0..256,each=1..4096" doc:"Paths that were changed on both sides and stayed as they were; the first 256."`
}

// EventType implements Payload.
func (DesktopUpgraded) EventType() Type { return "desktop.upgraded" }

// DesktopBroke says that the desktop's source, as it was changed, does not work.
// Its words come from what broke: nobody vouches for them.
type DesktopBroke struct {
	Origin  BrokeOrigin `json:"origin" choir:"enum=page|server" doc:"Who said so: a page of the desktop, or the server that builds it."`
	Message string      `json:"message" choir:"len=1..2000" doc:"What it said."`
	File    string      `json:"file,omitempty" choir:"len=0..200" doc:"Where, below the source's folder."`
	Line    int         `json:"line,omitempty" choir:"range=0..10000000" doc:"Line of the file; 0 when nobody knows."`
}

// maxPlainPath bounds a path that PlainPath lets through, in bytes.
const maxPlainPath = 200

// PlainPath returns path if it is a short relative file path of ASCII letters, digits and
// "_@.-" between its slashes, else "". Use it before showing a path from an untrusted
// source.
func PlainPath(path string) string {
	if len(path) > maxPlainPath {
		return ""
	}
	for name := range strings.SplitSeq(path, "/") {
		if name == "" || strings.ContainsFunc(name, func(r rune) bool { return !plainRune(r) }) {
			return ""
		}
	}
	return path
}

// plainRune reports whether r may be in a name of a plain path. There is no regular
// expression here, because its package makes choir-init 100 KB larger.
func plainRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_@.-", r)
}

// BrokeOrigin is who says that a desktop's source does not work.
type BrokeOrigin string

// The origins.
const (
	BrokePage   BrokeOrigin = "page"
	BrokeServer BrokeOrigin = "server"
)

// EventType implements Payload.
func (DesktopBroke) EventType() Type { return "desktop.broke" }
