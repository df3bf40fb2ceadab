package config

import (
	"errors"
	"strings"
	"testing"

	"choiros/internal/choir"
)

const services = `
[[models.provider]]
name = "claude"
kind = "anthropic"
key_env = "K"
[[models.provider]]
name = "gpt"
kind = "openai-responses"
key_env = "K"
`

func TestARoleNamesModelsInOrderWithTheirSettings(t *testing.T) {
	c, err := Parse([]byte(`
[models]
associate = "claude/b"
[[models.role]]
role = "director"
models = ["claude/a", "gpt/x"]
effort = "high"
[[models.role]]
role = "associate"
temperature = 0.0
[[models.role]]
role = "reviewer"
models = ["gpt/y"]
` + services))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"director": "director: claude/a, gpt/x, effort high", "associate": "associate: claude/b, temperature 0", "reviewer": "reviewer: gpt/y",
	} {
		if r, ok := c.Models.Role(name); !ok || r.String() != want {
			t.Errorf("%s is %v, want %s", name, r, want)
		}
	}
	if _, ok := c.Models.Role("tool"); ok {
		t.Error("a role without a table has models")
	}
}

func TestAWrongRoleIsNamed(t *testing.T) {
	for in, want := range map[string]string{
		`role = ""`: "models.role[0].role", `role = "a/b"`: "models.role[0].role", `role = "tool"`: "models.role[0].models",
		"role = \"tool\"\nmodels = [\"claude/a\", \"nobody/b\"]":                                              "models.role[0].models[1]",
		"role = \"tool\"\nmodels = [\"claude/a\"]\neffort = \"much\"":                                         "models.role[0].effort",
		"role = \"tool\"\nmodels = [\"claude/a\"]\ntemperature = 2.5":                                         "models.role[0].temperature",
		"role = \"tool\"\nmodels = [\"claude/a\"]\n[[models.role]]\nrole = \"tool\"\nmodels = [\"claude/a\"]": "models.role[1].role",
	} {
		_, err := Parse([]byte("[[models.role]]\n" + in + "\n" + services))
		var e *choir.Error
		if !errors.As(err, &e) || e.Path != want {
			t.Errorf("%s: want %s refused, got %v", strings.ReplaceAll(in, "\n", "; "), want, err)
		}
	}
}
