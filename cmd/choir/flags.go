package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"choiros/internal/choir"
	"choiros/internal/names"
	"choiros/internal/spelling"
)

// flagError returns the flag library's error in choir's words, with an example of the verb.
func flagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var bare *pflag.ValueRequiredError
	var wrong *pflag.InvalidValueError
	var broken *pflag.InvalidSyntaxError
	example := sentenceIn(languageOf(c), "arguments.example", "example", exampleOf(c))
	switch {
	case errors.As(err, &unknown):
		return unknownFlag(c, unknown)
	case errors.As(err, &bare):
		f := bare.GetFlag()
		return choir.RefuseField("--"+f.Name, choir.ReasonFlagWithoutValue, choir.TextOf("command", c.CommandPath()), choir.TextOf("usage", f.Usage), choir.TextOf("example", example))
	case errors.As(err, &wrong):
		f := wrong.GetFlag()
		return choir.RefuseField("--"+f.Name, choir.ReasonFlagWrongValue, choir.TextOf("command", c.CommandPath()), choir.TextOf("kind", valueWords(languageOf(c), f.Value.Type())), choir.TextOf("given", wrong.GetValue()), choir.TextOf("usage", f.Usage), choir.TextOf("example", example))
	case errors.As(err, &broken):
		return choir.RefuseField(broken.GetSpecifiedFlag(), choir.ReasonFlagWithoutName, choir.TextOf("command", c.CommandPath()), choir.TextOf("example", example))
	}
	return choir.Refuse("", choir.ReasonFlagsWrong, choir.TextOf("why", err), choir.TextOf("example", example))
}

// unknownFlag returns the error for a flag that a verb does not have, with the most similar flag, or
// all flags, as the remedy.
func unknownFlag(c *cobra.Command, e *pflag.NotExistError) *choir.Error {
	typed, short := "--"+e.GetSpecifiedName(), e.GetSpecifiedShortnames()
	if short != "" {
		typed = "-" + short
	}
	names := flagNames(c)
	command, example := choir.TextOf("command", c.CommandPath()), choir.TextOf("example", exampleOf(c))
	if near := meantFlag(c, e.GetSpecifiedName(), short, names); near != "" {
		return choir.RefuseField(typed, choir.ReasonFlagUnknownNear, command, choir.TextOf("near", near), example)
	}
	return choir.RefuseField(typed, choir.ReasonFlagUnknown, command, choir.TextOf("names", strings.Join(names, ", --")), example)
}

// meantFlag returns the flag most similar to an unknown one; "" if none is. Several letters after
// one dash may be a name, and one letter the beginning of a name.
func meantFlag(c *cobra.Command, name, short string, names []string) string {
	if len(short) > 1 {
		if near := spelling.Nearest(strings.TrimLeft(short, "-"), names); near != "" {
			return near
		}
	}
	if len(name) > 1 {
		return spelling.Nearest(name, names)
	}
	if f := c.Flags().ShorthandLookup(strings.ToLower(name)); f != nil {
		return f.Name
	}
	for _, n := range names {
		if strings.HasPrefix(n, strings.ToLower(name)) {
			return n
		}
	}
	return ""
}

// flagNames returns the long names of a verb's flags, its own first, then those of all verbs.
func flagNames(c *cobra.Command) []string {
	var names []string
	add := func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	}
	c.LocalNonPersistentFlags().VisitAll(add)
	c.PersistentFlags().VisitAll(add)
	c.InheritedFlags().VisitAll(add)
	return names
}

// valueWords describes the values of a flag's type for people, in a language.
func valueWords(l names.Language, kind string) string {
	switch kind {
	case "bool":
		return sentenceIn(l, "arguments.bool")
	case "int", "int64":
		return sentenceIn(l, "arguments.int")
	case "uint64":
		return sentenceIn(l, "arguments.uint")
	case "duration":
		return sentenceIn(l, "arguments.duration")
	}
	return sentenceIn(l, "arguments.other", "kind", kind)
}

// onlyOne returns an error with code invalid if more than one of the named flags is given.
func onlyOne(c *cobra.Command, names ...string) error {
	var given []string
	for _, name := range names {
		if c.Flags().Changed(name) {
			given = append(given, "--"+name)
		}
	}
	if len(given) < 2 {
		return nil
	}
	return choir.RefuseField(given[1], choir.ReasonFlagsTogether, choir.TextOf("command", c.CommandPath()), choir.TextOf("other", given[0]), choir.TextOf("names", strings.Join(names, ", --")), choir.TextOf("example", exampleOf(c)))
}

// verbError returns the library's error about an unknown verb in choir's words, with the most
// similar verb, and any other error unchanged.
func verbError(c *cobra.Command, err error) error {
	rest, unknown := strings.CutPrefix(fmt.Sprint(err), "unknown command ")
	quoted, quoteErr := strconv.QuotedPrefix(rest)
	typed, unquoteErr := strconv.Unquote(quoted)
	if err == nil || !unknown || quoteErr != nil || unquoteErr != nil {
		return err
	}
	var names []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	given, command := choir.TextOf("given", typed), choir.TextOf("command", c.CommandPath())
	if near := spelling.Nearest(typed, names); near != "" {
		return choir.Refuse("", choir.ReasonVerbUnknownNear, given, command, choir.TextOf("near", near))
	}
	return choir.Refuse("", choir.ReasonVerbUnknown, given, command)
}
