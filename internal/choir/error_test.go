package choir

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// declaredCodes reads the constants of type Code from the source.
func declaredCodes(t *testing.T) (codes []Code) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "error.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		if name, ok := spec.Type.(*ast.Ident); ok && name.Name == "Code" {
			text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			codes = append(codes, Code(text))
		}
		return true
	})
	return codes
}

func TestEveryCodeHasItsRow(t *testing.T) {
	declared := declaredCodes(t)
	slices.Sort(declared)
	if got := Codes(); !slices.Equal(got, declared) {
		t.Errorf("the table has\n%q, declared are\n%q", got, declared)
	}
	for _, c := range declared {
		if s := c.HTTPStatus(); s < 400 || s > 599 {
			t.Errorf("%s is answered with status %d", c, s)
		}
		if x := c.ExitCode(); x < 1 || x > 5 {
			t.Errorf("%s exits with %d", c, x)
		}
		if c.Retry() && c.HTTPStatus() < 429 {
			t.Errorf("%s says to try again, its status %d does not", c, c.HTTPStatus())
		}
	}
	unknown := Code("unheard of")
	if unknown.HTTPStatus() != 500 || unknown.ExitCode() != 1 || unknown.Retry() {
		t.Error("an unknown code is not treated as internal")
	}
}

func TestErrorSaysWhatHappenedToWhatAndWhatToDo(t *testing.T) {
	err := Wrap("journal.append", "", fmt.Errorf("outer: %w", E("disk.write", CodeNoSpace, "segment 3 is full").WithRemedy("free some space")), "append %d events", 2)
	want := "journal.append: append 2 events: outer: disk.write: segment 3 is full (free some space)"
	if err.Error() != want || CodeOf(err) != CodeNoSpace {
		t.Errorf("got %s %q, want %q", CodeOf(err), err, want)
	}
	if Wrap("x", CodeInternal, nil, "y") != nil {
		t.Error("no cause was wrapped into an error")
	}
	if CodeOf(nil) != "" || CodeOf(io.EOF) != CodeInternal {
		t.Error("codes of no error and of a foreign error")
	}
	if CodeOf(Wrap("x", "", context.Canceled, "")) != CodeCancelled || CodeOf(context.DeadlineExceeded) != CodeTimeout {
		t.Error("codes of ended contexts")
	}
	if !errors.Is(Wrap("x", CodeTimeout, io.EOF, ""), io.EOF) {
		t.Error("the cause is lost")
	}
}

func TestUnderPutsPathsTogether(t *testing.T) {
	for in, want := range map[string]string{"": "top", "$": "top", "a": "top.a", "[0].b": "top[0].b", `["x y"]`: `top["x y"]`} {
		if e := (&Error{}); !errors.As(Under("top", Invalid(in, "x")), &e) || e.Path != want {
			t.Errorf("%q is at %q, want %q", in, e.Path, want)
		}
	}
	if Under("top", io.EOF) != io.EOF {
		t.Error("a foreign error was changed")
	}
}

func TestProblemsKeepInternalsInside(t *testing.T) {
	if ProblemOf(nil) != nil || (*Problem)(nil).Err() != nil {
		t.Error("no error became a problem")
	}
	for _, err := range []error{io.EOF, E("store.open", CodeInternal, "at /root/secret")} {
		if p := ProblemOf(err); p.Code != CodeInternal || strings.Contains(p.Message, "/root") {
			t.Errorf("%v is told as %+v", err, p)
		}
	}
	err := Under("commands", Invalid("[0].argv", "exactly one of argv and shell must be given").WithRemedy("drop one"))
	want := Problem{Code: CodeInvalid, Message: "exactly one of argv and shell must be given", Path: "commands[0].argv", Remedy: "drop one"}
	p := ProblemOf(err)
	if !reflect.DeepEqual(*p, want) {
		t.Errorf("told as %+v, want %+v", *p, want)
	}
	if p.Err().Error() != err.Error() {
		t.Errorf("came back as %q, was %q", p.Err(), err)
	}
}

func TestAProblemKeepsTheRemedyOfItsCause(t *testing.T) {
	cause := E("guest.dial", CodeUnavailable, "nothing listens at port %d", 80).WithRemedy("start a server there")
	told := ProblemOf(Wrap("preview", "", cause, "the page"))
	want := Problem{Code: CodeUnavailable, Message: "the page: guest.dial: nothing listens at port 80", Remedy: "start a server there"}
	if !reflect.DeepEqual(*told, want) {
		t.Errorf("told as %+v, want %+v", *told, want)
	}
	if told := ProblemOf(Wrap("preview", CodeNotFound, cause, "the page")); told.Remedy != "" {
		t.Errorf("a problem of another kind is told to %q", told.Remedy)
	}
}
