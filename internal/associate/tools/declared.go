package tools

import (
	"encoding/json"

	"choiros/internal/choir"
	"choiros/internal/model"
)

func declare(name choir.Tool, writes bool, doc, schema string, fresh func() input) tool {
	return tool{writes: writes, fresh: fresh,
		def: model.ToolDef{Name: string(name), Description: doc, Schema: json.RawMessage(schema)}}
}

// all lists the tools in the order in which the model is offered them. The order is part
// of recorded requests, so it must not change.
var all = []tool{
	declare(choir.ToolReadFile, false,
		"Read a text file. Returns up to 2000 lines from line offset (1 is the first).",
		`{"type":"object","properties":{"path":{"type":"string"},"offset":{"type":"integer","minimum":1},"limit":{"type":"integer","minimum":1}},"required":["path"],"additionalProperties":false}`,
		func() input { return &readFile{} }),
	declare(choir.ToolWriteFile, true,
		"Write a whole file, creating folders as needed. An existing file keeps its permissions.",
		`{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"],"additionalProperties":false}`,
		func() input { return &writeFile{} }),
	declare(choir.ToolEditFile, true,
		"Replace text in a file. Each old text must occur exactly once; edits apply in order, all of them or none.",
		`{"type":"object","properties":{"path":{"type":"string"},"edits":{"type":"array","minItems":1,"maxItems":256,"items":{"type":"object","properties":{"old":{"type":"string"},"new":{"type":"string"}},"required":["old","new"],"additionalProperties":false}}},"required":["path","edits"],"additionalProperties":false}`,
		func() input { return &editFile{} }),
	declare(choir.ToolListFiles, false,
		"List files below a folder. pattern is a glob: a name like *.go at any depth, or a path like src/**/*.ts.",
		`{"type":"object","properties":{"path":{"type":"string"},"pattern":{"type":"string"},"limit":{"type":"integer","minimum":1}},"additionalProperties":false}`,
		func() input { return &listFiles{} }),
	declare(choir.ToolSearchFiles, false,
		"Search the text files below a folder for a regular expression (RE2). Returns path:line: text.",
		`{"type":"object","properties":{"pattern":{"type":"string"},"path":{"type":"string"},"limit":{"type":"integer","minimum":1}},"required":["pattern"],"additionalProperties":false}`,
		func() input { return &searchFiles{} }),
	declare(choir.ToolBash, true,
		"Run a command line in the task's folder. A command that has not ended after wait_s seconds (120 by default) goes on and you get a handle; a call with handle in place of command waits for it again and shows what it printed since, and end ends it. Start a server with a short wait_s. What still runs is listed below the output, and ended with the task.",
		`{"type":"object","properties":{"command":{"type":"string"},"timeout_s":{"type":"integer","minimum":1,"maximum":86400,"description":"Stop the command after so long. Default: never."},"handle":{"type":"integer","minimum":1,"maximum":1000,"description":"A command that runs."},"wait_s":{"type":"integer","minimum":1,"maximum":600},"end":{"type":"boolean","description":"End the command with this handle."}},"additionalProperties":false}`,
		func() input { return &bash{} }),
	declare(choir.ToolFetchURL, false,
		"Fetch a web page as text.",
		`{"type":"object","properties":{"url":{"type":"string"}},"required":["url"],"additionalProperties":false}`,
		func() input { return &fetchURL{} }),
}
