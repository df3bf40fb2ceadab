package main

import (
	"slices"
	"strings"
)

// importRule forbids some imports to some packages.
type importRule struct {
	why string
	// of says which packages the rule is about.
	of func(path string) bool
	// bad says which imports it forbids them.
	bad func(path, imported string) bool
	// deps looks at everything the package links, not only what it names.
	deps bool
}

func (r importRule) violations(p pkg) []violation {
	if !r.of(p.ImportPath) {
		return nil
	}
	imports := p.Imports
	if r.deps {
		imports = p.Deps
	}
	var out []violation
	for _, imported := range imports {
		if r.bad(p.ImportPath, imported) {
			out = append(out, violation{p.ImportPath, "imports " + imported, r.why})
		}
	}
	return out
}

// implementations lists those of each contract; cmd passes them to their users.
var implementations = map[string][]string{
	"./internal/sandbox": {"local", "gvisor", "container", "microvm", "sprites", "tee", "fake"},
	"./internal/model":   {"anthropic", "bedrock", "openai", "replay"},
	"./internal/blob":    {"fs", "s3", "mem"},
	"./internal/keyring": {"files", "vault"},
	"./internal/search":  {"embedded", "qdrant"},
	"./internal/bus":     {"hub", "cluster"},

	"./internal/control/auth": {"linklogin"},
}

var (
	contracts = []string{"./internal/sandbox", "./internal/model", "./internal/blob", "./internal/keyring", "./internal/search", "./internal/bus", "./internal/eventstore", "./internal/control/auth", "./internal/replica"}
	rooms     = []string{"./internal/control", "./internal/computer", "./internal/director", "./internal/associate"}
	wirers    = []string{"./cmd", "./bench", "./tools", "./internal/bench"}
	testOnly  = []string{"./internal/sandbox/fake", "./internal/blob/mem"}
)

var importRules = []importRule{
	{
		why: "the vocabulary imports only the standard library and does no I/O, so that everyone may import it",
		of:  is("./internal/choir"),
		bad: func(_, imported string) bool {
			return !isStandard(imported) || slices.Contains([]string{"os", "os/exec", "net", "net/http", "syscall", "database/sql"}, imported)
		},
	},
	{
		why: "a contract never imports an implementation or a room that uses it: every implementation would depend on it",
		of:  is(contracts...),
		bad: func(path, imported string) bool { return isImplementation(imported) || underAny(imported, rooms) },
	},
	{
		why: "an implementation imports its contract and leaves, never a sibling: each must be replaceable alone",
		of:  isImplementation,
		bad: func(path, imported string) bool {
			return isImplementation(imported) && contractOf(imported) == contractOf(path) && implementationOf(imported) != implementationOf(path) ||
				underAny(imported, rooms) && imported != contractOf(path) && !under(imported, contractOf(path)+"/"+implementationOf(path))
		},
	},
	{
		why: "only cmd wires: take the contract as an argument and let cmd choose the implementation",
		of: func(path string) bool {
			return strings.HasPrefix(path, "./") && !underAny(path, wirers) && !isImplementation(path) && !isTestSupport(path)
		},
		bad: func(_, imported string) bool { return isImplementation(imported) },
	},
	{
		why: "a sandbox that isolates nothing and a store that forgets everything are for tests: only a file _test.go imports them",
		of:  func(path string) bool { return !underAny(path, testOnly) },
		bad: func(_, imported string) bool { return underAny(imported, testOnly) },
	},
	{
		why: "the one while-loop imports choir and model, so that Director and Associate can both use it",
		of:  below("./internal/agentloop"),
		bad: func(_, imported string) bool {
			return strings.HasPrefix(imported, "./") && !slices.Contains([]string{"./internal/choir", "./internal/model"}, imported)
		},
	},
	{
		why: "Director and Associate meet in the log, through the contracts; they never import each other, control or computer",
		of:  below("./internal/director"),
		bad: func(_, imported string) bool {
			return underAny(imported, []string{"./internal/associate", "./internal/control", "./internal/computer"})
		},
	},
	{
		why: "Director and Associate meet in the log, through the contracts; they never import each other, control or computer",
		of:  below("./internal/associate"),
		bad: func(_, imported string) bool {
			return underAny(imported, []string{"./internal/director", "./internal/control", "./internal/computer"})
		},
	},
	{
		why: "a scope is folders and processes of the sandbox; the task runner, which uses it, speaks to bus and models",
		of:  below("./internal/associate/scope"),
		bad: ownBut("./internal/associate/scope", "./internal/choir", "./internal/associate/proctree", "./internal/associate/verify"),
	},
	{
		why: "the timeline works on snapshots, blobs and the log's records that it is given: computers and the control plane use it, not the reverse",
		of:  below("./internal/timeline"),
		bad: ownBut("./internal/timeline", "./internal/choir", "./internal/names", "./internal/snapshot", "./internal/keyfile", "./internal/blob", "./internal/journal", "./internal/eventstore"),
	},
	{
		why: "desk, runs, session and verification work on the computer's log alone, and guestblobs on its content, so that windows, documents and prompts work while nothing runs, and all are tested without it",
		of: func(path string) bool {
			return underAny(path, []string{"./internal/computer/desk", "./internal/computer/runs", "./internal/computer/session", "./internal/computer/verification", "./internal/computer/guestblobs"})
		}, deps: true,
		bad: func(_, imported string) bool {
			return underAny(imported, []string{"./internal/sandbox", "./internal/guest", "./internal/bus", "./internal/snapshot"})
		},
	},
	{
		why: "a workspace reaches its tree through a client of choir-init, so that files work on any driver and are tested without one; of the other parts of a computer it knows how events are appended",
		of:  below("./internal/computer/workspace"), deps: true,
		bad: func(_, imported string) bool {
			return underAny(imported, []string{"./internal/sandbox", "./internal/bus", "./internal/control", "./internal/computer/desk", "./internal/computer/terminals", "./internal/computer/rolehost", "./internal/computer/dispatch", "./internal/computer/runs"})
		},
	},
	{
		why: "the host of the roles is given its bus and its workspace: it starts no NATS server and no computer, so that sandboxes and doors are tested in one process",
		of:  below("./internal/computer/rolehost"), deps: true,
		bad: func(_, imported string) bool {
			return imported == "./internal/computer" || underAny(imported, []string{"./internal/bus/hub", "./internal/bus/cluster", "./internal/computer/desk", "./internal/computer/workspace", "./internal/control", "github.com/nats-io/nats-server"})
		},
	},
	{
		why: "tasks are handed on and answered by what the log says; what takes them back is given, so that this is tested without sandbox, workspace and NATS server",
		of:  below("./internal/computer/dispatch"), deps: true,
		bad: func(_, imported string) bool {
			return slices.Contains([]string{"./internal/computer", "./internal/guest"}, imported) ||
				underAny(imported, []string{"./internal/sandbox", "./internal/snapshot", "./internal/bus/hub", "./internal/bus/cluster", "./internal/computer/rolehost", "./internal/computer/workspace", "./internal/control", "github.com/nats-io/nats-server"})
		},
	},
	{
		why: "merges, rewinds, copies, projects, moments, collections, tasks' changes, the look after a start and the desktop's source reach a workspace through its own package and know neither driver, bus nor roles, so that they are tested in one process",
		of: func(path string) bool {
			return underAny(path, []string{
				"./internal/computer/treemerge", "./internal/computer/selfsource", "./internal/computer/projects", "./internal/computer/tasks", "./internal/computer/reconcile",
				"./internal/computer/moments", "./internal/computer/collection", "./internal/computer/rewind", "./internal/computer/copies",
			})
		}, deps: true,
		bad: func(_, imported string) bool {
			return imported == "./internal/computer" ||
				underAny(imported, []string{"./internal/sandbox", "./internal/bus", "./internal/control", "./internal/computer/desk", "./internal/computer/terminals", "./internal/computer/rolehost", "./internal/computer/dispatch", "./internal/computer/runs"})
		},
	},
	{
		why: "where a log begins is found in the log and its content, so that a computer that does not run can say it; of the other parts it knows how events are appended",
		of:  below("./internal/computer/origin"), deps: true,
		bad: func(path, imported string) bool {
			return imported == "./internal/computer" || underAny(imported, []string{"./internal/sandbox", "./internal/guest", "./internal/bus", "./internal/control", "./internal/computer/workspace", "./internal/computer/rolehost", "./internal/computer/desk"})
		},
	},
	{
		why: "the verbs of the roles are answered by parts of a computer that are given as interfaces, so that what a role may send is tested without them",
		of:  below("./internal/computer/verbs"), deps: true,
		bad: func(path, imported string) bool {
			return under(imported, "./internal/computer") && imported != path || underAny(imported, []string{"./internal/sandbox", "./internal/guest", "./internal/control"})
		},
	},
	{
		why: "the API is given the parts of a computer that requests are about: it opens no store, no content and no sandbox, and runs no control plane",
		of:  is("./internal/control/api"),
		bad: func(_, imported string) bool {
			return imported == "./internal/computer" || underAny(imported, []string{"./internal/blob", "./internal/journal", "./internal/bus/hub", "./internal/control/supervisor", "./internal/control/gateway"})
		},
	},
	{
		why: "a copy of the log in a cluster knows events and NATS, so that it can be used without a computer",
		of:  func(path string) bool { return under(path, "./internal/bus/cluster") && !isTestSupport(path) },
		bad: ownBut("./internal/bus/cluster", "./internal/choir", "./internal/fault", "./internal/replica"),
	},
	{
		why: "what looks like a key is told from its name and bytes alone, so that everyone may ask",
		of:  below("./internal/keyfile"),
		bad: func(_, imported string) bool { return !isStandard(imported) },
	},
	{
		why: "init starts with every sandbox and stays tiny: it links no NATS, no SQLite and no model client",
		of:  is("./cmd/choir-init"), deps: true,
		bad: func(_, imported string) bool {
			return !isStandard(imported) && !strings.HasPrefix(imported, "./") && !underAny(imported, []string{"golang.org/x/sys", "golang.org/x/net/dns/dnsmessage", "github.com/creack/pty"})
		},
	},
	{
		why: "the roles stay small: providers, keys, the log and the server live in the control plane",
		of:  is("./cmd/choir-director", "./cmd/choir-associate"), deps: true,
		bad: func(_, imported string) bool {
			return underAny(imported, []string{"github.com/openai", "github.com/anthropics", "github.com/nats-io/nats-server", "modernc.org/sqlite", "zombiezen.com/go/sqlite",
				"github.com/prometheus", "go.opentelemetry.io", "./internal/control", "./internal/computer", "./internal/journal", "./internal/eventstore"})
		},
	},
	{
		why: "figures and traces leave choir at one place each: declare a small observer, and let cmd bind it to internal/control/metrics or traces",
		of:  func(path string) bool { return !underAny(path, []string{"./cmd", "./tools"}) },
		bad: func(path, imported string) bool {
			return underAny(imported, []string{"github.com/prometheus", "./internal/control/metrics"}) && !under(path, "./internal/control/metrics") ||
				underAny(imported, []string{"go.opentelemetry.io", "./internal/control/traces"}) && !under(path, "./internal/control/traces")
		},
	},
	{
		why: "a command is not a library",
		of:  func(path string) bool { return !underAny(path, []string{"./cmd", "./tools"}) },
		bad: func(_, imported string) bool { return underAny(imported, []string{"./cmd", "./tools"}) },
	},
}

func is(paths ...string) func(string) bool {
	return func(path string) bool { return slices.Contains(paths, path) }
}

// ownBut forbids the module's own packages, but for one's folder and those named.
func ownBut(folder string, allowed ...string) func(path, imported string) bool {
	return func(_, imported string) bool {
		return strings.HasPrefix(imported, "./") && !under(imported, folder) && !slices.Contains(allowed, imported)
	}
}

func below(folder string) func(string) bool {
	return func(path string) bool { return under(path, folder) }
}

// isTestSupport is true for the suites and fixtures that only tests import.
func isTestSupport(path string) bool {
	return strings.HasSuffix(path, "test") || strings.Contains(path, "test/")
}

func isImplementation(path string) bool { return implementationOf(path) != "" }

// implementationOf is the name of the implementation a package belongs to.
func implementationOf(path string) string {
	for _, name := range implementations[contractOf(path)] {
		if under(path, contractOf(path)+"/"+name) {
			return name
		}
	}
	return ""
}

func contractOf(path string) string {
	for _, c := range contracts {
		if under(path, c) {
			return c
		}
	}
	return ""
}
