package main

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"

	"choiros/internal/visible"
)

// console is a command's output. out and err make control characters visible, because names,
// messages and answers come from guests; content that a person asked for (export -, timeline cat) is
// written to raw.
type console struct {
	out, err, raw io.Writer
}

func newConsole(out, err io.Writer) console {
	return console{out: visible.NewWriter(out), err: visible.NewWriter(err), raw: out}
}

// printer prints what choir answers.
type printer struct{ speaker }

// newPrinter returns a printer for people, in the language that the environment names.
func newPrinter(c console, env func(string) string) printer {
	return printer{speaker{console: c, env: env}}
}

// lines is a text that may have several lines. printf prints other strings on one line.
type lines string

// printf formats to the output. Strings and errors in args become one line each, except lines.
func (c console) printf(format string, args ...any) {
	fmt.Fprintf(c.out, format, oneLineEach(args)...)
}

// errorf formats to the error output, otherwise like printf.
func (c console) errorf(format string, args ...any) {
	fmt.Fprintf(c.err, format, oneLineEach(args)...)
}

// printJSON prints v as one line of JSON.
func (c console) printJSON(v any) {
	if err := json.NewEncoder(visible.NewJSONWriter(c.raw)).Encode(v); err != nil {
		c.errorf("choir: %v\n", err)
	}
}

// oneLineEach returns args with strings and errors made one visible line each.
func oneLineEach(args []any) []any {
	shown := make([]any, len(args))
	for i, arg := range args {
		switch v := arg.(type) {
		case lines:
			shown[i] = visible.Text(string(v))
		case error:
			shown[i] = visible.Line(v.Error())
		default:
			shown[i] = arg
			if rv := reflect.ValueOf(arg); rv.Kind() == reflect.String {
				shown[i] = visible.Line(rv.String())
			}
		}
	}
	return shown
}
