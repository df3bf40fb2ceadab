package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"choiros/internal/choir"
	"choiros/internal/spelling"
)

// flagError says what is wrong with a flag of a verb, in place of the words of the
// library that reads the command line, and how the verb is used.
func flagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var bare *pflag.ValueRequiredError
	var wrong *pflag.InvalidValueError
	var broken *pflag.InvalidSyntaxError
	example := "for example: " + exampleOf(c)
	switch {
	case errors.As(err, &unknown):
		return unknownFlag(c, unknown)
	case errors.As(err, &bare):
		f := bare.GetFlag()
		return choir.Invalid("--"+f.Name, "of %s is missing its value: %s", c.CommandPath(), f.Usage).WithRemedy("%s", example)
	case errors.As(err, &wrong):
		f := wrong.GetFlag()
		return choir.Invalid("--"+f.Name, "of %s must be %s, and %q is not: %s", c.CommandPath(), valueWords(f.Value.Type()), wrong.GetValue(), f.Usage).WithRemedy("%s", example)
	case errors.As(err, &broken):
		return choir.Invalid(broken.GetSpecifiedFlag(), "is no flag of %s: a flag has a name behind its dashes", c.CommandPath()).WithRemedy("%s", example)
	}
	return choir.E("", choir.CodeInvalid, "%v", err).WithRemedy("%s", example)
}

// unknownFlag refuses a flag that a verb does not have, and names the nearest that it
// has, or all.
func unknownFlag(c *cobra.Command, e *pflag.NotExistError) *choir.Error {
	typed, short := "--"+e.GetSpecifiedName(), e.GetSpecifiedShortnames()
	if short != "" {
		typed = "-" + short
	}
	refused := choir.Invalid(typed, "is no flag of %s", c.CommandPath())
	names := flagNames(c)
	if near := meantFlag(c, e.GetSpecifiedName(), short, names); near != "" {
		return refused.WithRemedy("did you mean --%s? for example: %s", near, exampleOf(c))
	}
	return refused.WithRemedy("its flags are --%s; for example: %s", strings.Join(names, ", --"), exampleOf(c))
}

// meantFlag is the flag that somebody meant most likely; empty when none is near.
// Several letters behind one dash may be a name, and one letter the beginning of one.
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

// flagNames lists the long names of a verb's flags, its own before those that all
// verbs have.
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

// valueWords says which values a flag of a kind takes.
func valueWords(kind string) string {
	switch kind {
	case "bool":
		return "true or false"
	case "int", "int64":
		return "a whole number"
	case "uint64":
		return "a whole number, 0 or more"
	}
	return "a " + kind
}

// onlyOne refuses flags of a verb of which several were given, and one may be.
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
	return choir.Invalid(given[1], "cannot be given to %s together with %s", c.CommandPath(), given[0]).
		WithRemedy("give one of --%s; for example: %s", strings.Join(names, ", --"), exampleOf(c))
}

// verbError says that there is no such verb, in place of the words of the library; any
// other error stays as it is.
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
	refused := choir.Invalid("", "%q is no verb of %s", typed, c.CommandPath())
	if near := spelling.Nearest(typed, names); near != "" {
		return refused.WithRemedy("did you mean %s %s? %s --help lists all", c.CommandPath(), near, c.CommandPath())
	}
	return refused.WithRemedy("%s --help lists them", c.CommandPath())
}
