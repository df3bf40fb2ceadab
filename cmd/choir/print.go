package main

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"

	"choiros/internal/visible"
)

// console is where a command prints. Everything that is printed for people or as
// JSON goes through it, because names, messages and answers are a guest's words;
// content that a person asked for as it is (export -, timeline cat) goes to raw.
type console struct {
	out, err, raw io.Writer
}

func newConsole(out, err io.Writer) console {
	return console{out: visible.NewWriter(out), err: visible.NewWriter(err), raw: out}
}

// lines is text that may have several lines. Other strings that printf prints
// are shown on one.
type lines string

// printf prints to the output. Strings, and errors, in args are made one line
// each; see lines.
func (c console) printf(format string, args ...any) {
	fmt.Fprintf(c.out, format, oneLineEach(args)...)
}

// errorf prints to the error output as printf does to the output.
func (c console) errorf(format string, args ...any) {
	fmt.Fprintf(c.err, format, oneLineEach(args)...)
}

// printJSON prints one value as one line.
func (c console) printJSON(v any) {
	if err := json.NewEncoder(visible.NewJSONWriter(c.raw)).Encode(v); err != nil {
		c.errorf("choir: %v\n", err)
	}
}

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
