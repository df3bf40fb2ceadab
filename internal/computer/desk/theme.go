package desk

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"choiros/internal/choir"
)

var (
	themeName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,99}$`)
	tokenName = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)
	// tokenChars matches a value of permitted characters: none that ends a declaration,
	// begins a rule or a comment, or hides a character.
	tokenChars = regexp.MustCompile(`^[A-Za-z0-9 #%.,()+*/'"_-]+$`)
	called     = regexp.MustCompile(`([A-Za-z0-9_-]*)\(`)
)

// cssFunctions are the CSS functions that a value may call. None of them fetches anything.
var cssFunctions = []string{
	"", "rgb", "rgba", "hsl", "hsla", "hwb", "lab", "lch", "oklab", "oklch", "color", "color-mix", "light-dark",
	"calc", "min", "max", "clamp", "var", "linear-gradient", "radial-gradient", "conic-gradient",
	"repeating-linear-gradient", "repeating-radial-gradient", "cubic-bezier", "steps", "blur", "brightness", "saturate", "drop-shadow",
}

// checkTheme returns an error with code invalid, with the field's path, unless each token of
// a theme is unique and its value a harmless CSS value.
func checkTheme(p *choir.ThemeChanged) error {
	if !themeName.MatchString(p.Name) {
		return choir.RefuseField("name", choir.ReasonThemeNameRule, choir.TextOf("given", p.Name))
	}
	seen := map[string]bool{}
	for i := range p.Tokens {
		t := &p.Tokens[i]
		token := fmt.Sprintf("tokens[%d]", i)
		switch {
		case !tokenName.MatchString(t.Name):
			return choir.Under(token, choir.RefuseField("name", choir.ReasonTokenNameRule, choir.TextOf("given", t.Name)))
		case seen[t.Name]:
			return choir.Under(token, choir.RefuseField("name", choir.ReasonThemeTokenTwice, choir.TextOf("given", t.Name)))
		}
		seen[t.Name] = true
		if err := checkCSS(t.Value); err != nil {
			return choir.Under(token, choir.Under("value", err))
		}
	}
	return nil
}

// checkCSS returns an error with code invalid unless value is a single CSS value that
// fetches nothing.
func checkCSS(value string) error {
	switch {
	case !tokenChars.MatchString(value):
		return choir.RefuseField("$", choir.ReasonThemeValueCharacter, choir.TextOf("given", value))
	case strings.Contains(value, "/*") || strings.Contains(value, "*/"):
		return choir.RefuseField("$", choir.ReasonThemeValueComment, choir.TextOf("given", value))
	}
	bare, open := outsideQuotes(value)
	if open || !balanced(bare) {
		return choir.RefuseField("$", choir.ReasonThemeValueOpen, choir.TextOf("given", value))
	}
	for _, call := range called.FindAllStringSubmatch(bare, -1) {
		if !slices.Contains(cssFunctions, strings.ToLower(call[1])) {
			return choir.RefuseField("$", choir.ReasonThemeValueCall, choir.TextOf("given", value), choir.TextOf("function", call[1]))
		}
	}
	return nil
}

// outsideQuotes returns the value with its quoted parts replaced by spaces; open reports an
// unclosed quote.
func outsideQuotes(value string) (bare string, open bool) {
	var quote rune
	bare = strings.Map(func(r rune) rune {
		switch {
		case quote == 0 && (r == '\'' || r == '"'):
			quote = r
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0:
			return r
		}
		return ' '
	}, value)
	return bare, quote != 0
}

// balanced reports whether the parentheses in value match.
func balanced(value string) bool {
	depth := 0
	for _, r := range value {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth < 0 {
			return false
		}
	}
	return depth == 0
}
