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
		"Read a text file, or look at a PNG, JPEG, GIF or WebP image. Each line comes after its number and a tab, which are not part of it.",
		`{"type":"object","properties":{
		"path":{"type":"string","description":"File, relative to the task's folder or absolute."},
		"offset":{"type":"integer","minimum":1,"description":"Number of the first line. Default: 1."},
		"limit":{"type":"integer","minimum":1,"description":"Number of lines. Default: 2000."}},
		"required":["path"],"additionalProperties":false}`,
		func() input { return &readFile{} }),
	declare(choir.ToolWriteFile, true,
		"Write a whole file, creating folders as needed. An existing file keeps its permissions.",
		`{"type":"object","properties":{
		"path":{"type":"string","description":"File, relative to the task's folder or absolute."},
		"content":{"type":"string","description":"All that the file then has."}},
		"required":["path","content"],"additionalProperties":false}`,
		func() input { return &writeFile{} }),
	declare(choir.ToolEditFile, true,
		"Change files, all edits or none: either edits, in which each old text must occur exactly once, in order, or a patch. Several files may be changed in one call.",
		`{"type":"object","properties":{
		"path":{"type":"string","description":"File of the edits that name none, relative to the task's folder or absolute."},
		"edits":{"type":"array","minItems":1,"maxItems":256,"items":{"type":"object","properties":{
		"path":{"type":"string","description":"File of this edit. Default: path."},
		"old":{"type":"string","description":"Text that occurs exactly once, white space included, without line numbers."},
		"new":{"type":"string","description":"What takes its place; empty removes it."}},
		"required":["old","new"],"additionalProperties":false}},
		"patch":{"type":"string","description":"In place of path and edits: *** Begin Patch, then *** Update File: PATH with hunks (@@ and a line before the place, then lines that begin with a blank, - or +), *** Add File: PATH with lines that begin with +, *** Delete File: PATH, then *** End Patch."}},
		"additionalProperties":false}`,
		func() input { return &editFile{} }),
	declare(choir.ToolListFiles, false,
		"List the files below a folder that git does not ignore.",
		`{"type":"object","properties":{
		"path":{"type":"string","description":"Folder. Default: the task's folder."},
		"pattern":{"type":"string","description":"Glob: a name like *.go at any depth, or a path below the folder like src/**/*.ts. Default: everything."},
		"limit":{"type":"integer","minimum":1,"maximum":5000,"description":"Number of files. Default: 500."},
		"symbols":{"type":"boolean","description":"A map of the code: with each source file what it declares at its top level, and in which line. Default: false."},
		"ignored":{"type":"boolean","description":"Also what git ignores, dependencies (node_modules) and caches, last. Default: false."}},
		"additionalProperties":false}`,
		func() input { return &listFiles{} }),
	declare(choir.ToolSearchFiles, false,
		"Search the text files below a folder that git does not ignore for a regular expression. Returns path:line: text.",
		`{"type":"object","properties":{
		"pattern":{"type":"string","description":"Regular expression (RE2), matched in each line; (?i) at its beginning ignores case."},
		"path":{"type":"string","description":"Folder or file. Default: the task's folder."},
		"files":{"type":"string","description":"Glob of the files to search, as pattern of list_files. Default: all."},
		"context":{"type":"integer","minimum":0,"maximum":50,"description":"Number of lines shown before and after each that matches, as path-line- text. Default: 0."},
		"limit":{"type":"integer","minimum":1,"maximum":5000,"description":"Number of lines that match. Default: 200."},
		"ignored":{"type":"boolean","description":"Also what git ignores, dependencies (node_modules) and caches, last. Default: false."}},
		"required":["pattern"],"additionalProperties":false}`,
		func() input { return &searchFiles{} }),
	declare(choir.ToolBash, true,
		"Run a command line in the task's folder. A command that has not ended after wait_s seconds goes on and you get a handle; a call with handle in place of command waits for it again and shows what it printed since, and end ends it. Start a server with a short wait_s. What still runs is listed below the output, and ended with the task.",
		`{"type":"object","properties":{
		"command":{"type":"string","description":"Command line for a shell."},
		"timeout_s":{"type":"integer","minimum":1,"maximum":86400,"description":"Seconds after which the command is stopped. Default: never."},
		"handle":{"type":"integer","minimum":1,"maximum":1000,"description":"A command that runs, in place of command."},
		"wait_s":{"type":"integer","minimum":1,"maximum":600,"description":"Seconds to wait for the command. Default: 120."},
		"end":{"type":"boolean","description":"End the command with this handle. Default: false."},
		"stdin":{"type":"string","maxLength":65536,"description":"Written to the command's standard input. Default: nothing."},
		"stdin_open":{"type":"boolean","description":"Keep a new command's standard input open, to write more by its handle. Default: it ends after stdin."},
		"stdin_close":{"type":"boolean","description":"End the standard input of the command with this handle, after stdin. Default: false."}},
		"additionalProperties":false}`,
		func() input { return &bash{} }),
	declare(choir.ToolFetchURL, false,
		"Fetch a web page as text.",
		`{"type":"object","properties":{
		"url":{"type":"string","description":"Address, with http or https."}},
		"required":["url"],"additionalProperties":false}`,
		func() input { return &fetchURL{} }),
	declare(choir.ToolScreenshot, true,
		"Look at a page that you made: a picture of it, with the errors of its scripts. The page is of a server that you started at localhost, or a file. It is saved only where save says.",
		`{"type":"object","properties":{
		"url":{"type":"string","description":"Address at localhost, such as http://localhost:5173/."},
		"path":{"type":"string","description":"File to be shown in place of url, relative to the task's folder or absolute."},
		"width":{"type":"integer","minimum":200,"maximum":2000,"description":"Pixels. Default: 1280."},
		"height":{"type":"integer","minimum":200,"maximum":2000,"description":"Pixels. Default: 800."},
		"full":{"type":"boolean","description":"The whole page, beyond height. Default: false."},
		"wait_s":{"type":"integer","minimum":1,"maximum":10,"description":"Seconds to wait once the page was loaded. Default: 1."},
		"save":{"type":"string","description":"File ending in .png to save the picture as. Default: none."}},
		"additionalProperties":false}`,
		func() input { return &screenshot{} }),
}
