package main

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"choiros/internal/choir"
	"choiros/internal/names"
)

// verbHelp has the texts of the help of one verb.
type verbHelp struct {
	Short string
	Long  []string // its lines; Short stands in its place if there are none
	// Arguments describe the required arguments, and Flags the flags, by their names.
	Arguments, Flags map[string]string
	// Notes are texts for the placeholders of the verb's examples.
	Notes map[string]string
}

// helps returns the help of each language by verb, such as "repo add"; "choir" is that of all verbs.
var helps = sync.OnceValue(func() map[names.Language]map[string]verbHelp {
	out := map[names.Language]map[string]verbHelp{}
	for _, l := range names.Languages() {
		out[l] = readCatalogue[map[string]verbHelp]("help", l)
	}
	return out
})

// describe puts the help of the person's language into a command and into all below it. Commands and flags
// are declared without it.
func (a *app) describe(c *cobra.Command) {
	for _, sub := range c.Commands() {
		a.describe(sub)
	}
	h := helps()[a.spoken()][verbOf(c)]
	values := []any{"data", a.defaultData(), "notice", a.sentence("demo.notice")}
	// The library's own commands keep its words where the catalogue has none.
	c.Short, c.Long = cmp.Or(h.Short, c.Short), cmp.Or(a.fill(strings.Join(h.Long, "\n"), values), c.Long)
	for name, text := range h.Notes {
		values = append(values, name, text)
	}
	c.Example = a.fill(c.Example, values)
	c.Annotations = map[string]string{languageKey: string(a.spoken())}
	for name, text := range h.Arguments {
		c.Annotations[verbOf(c)+" "+name] = text
	}
	c.InitDefaultHelpFlag()
	meaning := func(f *pflag.Flag) {
		if text, ok := h.Flags[f.Name]; ok {
			f.Usage = a.fill(text, values)
		}
	}
	c.LocalNonPersistentFlags().VisitAll(meaning)
	c.PersistentFlags().VisitAll(meaning)
	c.Flags().Lookup("help").Usage = a.sentence("help.flag", "verb", c.DisplayName())
}

// languageKey is the annotation of a command with the language of its help.
const languageKey = "language"

// languageOf returns the language of a command's help, in which errors about its arguments are said.
func languageOf(c *cobra.Command) names.Language { return names.Language(c.Annotations[languageKey]) }

// verbOf returns the words of a command below choir, and choir for choir itself.
func verbOf(c *cobra.Command) string {
	if _, verb, below := strings.Cut(c.CommandPath(), " "); below {
		return verb
	}
	return c.Name()
}

// fill returns a text of the help with its placeholders replaced.
func (a *speaker) fill(text string, values []any) string {
	filling := make([]choir.Value, len(values)/2)
	for i := range filling {
		filling[i] = valueOf(values[2*i].(string), values[2*i+1])
	}
	return choir.Sentence{Other: text}.Fill(string(a.spoken()), filling)
}

// showUsage prints how a command is used, in the form of the command library.
func (a *speaker) showUsage(c *cobra.Command) error {
	var b strings.Builder
	section := func(key string) { fmt.Fprintf(&b, "\n\n%s\n", a.sentence(key)) }
	b.WriteString(a.sentence("help.usage"))
	if c.Runnable() {
		b.WriteString("\n  " + strings.NewReplacer("[flags]", a.sentence("help.someFlags"), "[command]", a.sentence("help.someVerb")).Replace(c.UseLine()))
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\n  %s %s", c.CommandPath(), a.sentence("help.someVerb"))
	}
	if c.HasExample() {
		section("help.examples")
		b.WriteString(c.Example)
	}
	if c.HasAvailableSubCommands() {
		b.WriteString("\n\n" + a.sentence("help.verbs"))
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() || sub.Name() == "help" {
				fmt.Fprintf(&b, "\n  %-*s %s", sub.NamePadding(), sub.Name(), sub.Short)
			}
		}
	}
	if c.HasAvailableLocalFlags() {
		section("help.flags")
		b.WriteString(a.flagUsages(c.LocalFlags()))
	}
	if c.HasAvailableInheritedFlags() {
		section("help.globalFlags")
		b.WriteString(a.flagUsages(c.InheritedFlags()))
	}
	if c.HasAvailableSubCommands() {
		b.WriteString("\n\n" + a.sentence("help.more", "verb", c.CommandPath()))
	}
	_, err := fmt.Fprintln(c.OutOrStderr(), b.String())
	return err
}

// typedFlag matches a flag and the name of its type in a line of the flag library, and the spaces
// behind it.
var typedFlag = regexp.MustCompile(`(?m)^( +(?:-\w, )?--[\w-]+ )(string|int|uint|duration|stringArray)( +)`)

// flagUsages returns the lines of the flags. The library's words in them are those of the language.
func (a *speaker) flagUsages(flags *pflag.FlagSet) string {
	text := typedFlag.ReplaceAllStringFunc(flags.FlagUsages(), func(found string) string {
		part := typedFlag.FindStringSubmatch(found)
		word := a.term("flag", part[2])
		room := utf8.RuneCountInString(part[2]+part[3]) - utf8.RuneCountInString(word)
		return part[1] + word + strings.Repeat(" ", max(1, room))
	})
	text = strings.ReplaceAll(text, " (default ", " ("+a.sentence("help.default")+" ")
	return strings.TrimRight(text, " \n")
}
