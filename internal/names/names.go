// Package names is the table of the names of things on screens, in the CLI and in the documents, in
// each language. The pages' copy and the table in docs/CONTRACTS.md are generated from it.
package names

import "slices"

// Name is one entry of the table: the thing's name in each language.
type Name struct {
	// ID is the entry's key in the pages' copy.
	ID string
	EN string
	DE string
	// What describes the named thing.
	What string
	// Retired are former names that no text may contain.
	Retired []string
	// Titles are former names that no text may consist of; inside a sentence they are permitted.
	Titles []string
}

// Names that the control plane and the CLI use for the pages around the desktop.
const (
	TopBar = "top bar"
	Runs   = "Runs"
	Models = "Models & keys"
	// ModelsPlace is the page on which models are connected.
	ModelsPlace = Models + " in the " + TopBar
)

var table = []Name{
	{ID: "topBar", EN: TopBar, DE: "obere Leiste", What: "the bar above the desktop, and its pages, which no agent can change", Titles: []string{"In the shell", "In der Shell"}},
	{ID: "desktop", EN: "Desktop", DE: "Arbeitsfläche", What: "the windows and the prompt"},
	{ID: "runs", EN: Runs, DE: "Läufe", What: "the page of all runs, which works without the desktop; `/runs`", Retired: []string{"plain view", "einfache Ansicht", "einfachen Ansicht"}},
	{ID: "recover", EN: "Recover", DE: "Reparieren", What: "the page that leads out of a broken desktop; `/recover`"},
	{ID: "models", EN: Models, DE: "Modelle & Schlüssel", What: "the pages on which the owner connects models and sees keys and limits; `/models`", Retired: []string{"Settings, Models", "Settings → Models", "*Settings* → *Models*", "Settings: models", "Settings of the shell"}},
	{ID: "modelList", EN: "Models", DE: "Modelle", What: "the section of models; `/models`"},
	{ID: "apiKeys", EN: "API keys", DE: "API-Schlüssel", What: "the section of keys of model services; `/models/keys`", Titles: []string{"Secrets", "Geheimnisse"}},
	{ID: "limits", EN: "Limits", DE: "Grenzen", What: "the section of limits; `/models/limits`"},
	{ID: "writer", EN: "Writer", DE: "Texte", What: "the app for documents"},
	{ID: "files", EN: "Files", DE: "Dateien", What: "the app for files"},
	{ID: "code", EN: "Code", DE: "Code", What: "the app for text files"},
	{ID: "terminal", EN: "Terminal", DE: "Terminal", What: "the app for a shell in the sandbox"},
	{ID: "trace", EN: "Trace", DE: "Ablauf", What: "the app for the steps of a run"},
	{ID: "timeline", EN: "Timeline", DE: "Zeitachse", What: "earlier moments: an app, and the page `/time`", Titles: []string{"Look back", "Look back in time"}},
	{ID: "preview", EN: "Preview", DE: "Vorschau", What: "the app for what listens at a port of the sandbox", Titles: []string{"Browser"}},
	{ID: "settings", EN: "Settings", DE: "Einstellungen", What: "the app for look, desktops, language and keyboard"},
	{ID: "viewer", EN: "Viewer", DE: "Betrachter", What: "the app for pictures, PDF, tables, sound and video"},
	{ID: "quickLook", EN: "Quick look", DE: "Schnellansicht", What: "a file beside the list of Files"},
	{ID: "rootFolder", EN: "Computer", DE: "Computer", What: "the folder above all others; the one below it called `workspace` holds the projects", Titles: []string{"Workspace", "Arbeitsbereich"}},
	{ID: "everything", EN: "Everything", DE: "Alles", What: "no project in particular", Titles: []string{"Whole workspace"}},
	{ID: "askAI", EN: "Ask AI", DE: "KI fragen", What: "the menu with Summarize, Explain, Continue, Undo", Titles: []string{"Ask for", "Bitten um"}},
	{ID: "thisMoment", EN: "At this moment", DE: "Zu diesem Zeitpunkt", What: "the computer as it was", Titles: []string{"As it was", "Wie es war"}},
	{ID: "sinceThen", EN: "Since then", DE: "Seither", What: "what differs between a moment and now", Titles: []string{"Different now", "Heute anders"}},
	{ID: "goBackToHere", EN: "Go back to here", DE: "Hierher zurückgehen", What: "the computer becomes as it was; in the CLI `choir rewind`", Titles: []string{"Go there", "Dorthin zurück"}},
	{ID: "forkFromHere", EN: "Fork from here", DE: "Ab hier abzweigen", What: "a second computer begins there; in the CLI `choir fork`", Titles: []string{"Fork", "Abzweigen"}},
	{ID: "sandboxed", EN: "Sandboxed", DE: "Sandbox aktiv", What: "the programs of agents run isolated", Retired: []string{"Isolation: local"}},
	{ID: "signatureVerified", EN: "Signature verified", DE: "Signatur geprüft", What: "the answer is the Director's, checked in this browser", Titles: []string{"Signed by the Director"}},
	{ID: "verified", EN: "Verified", DE: "Geprüft", What: "tests or other checks of a task passed"},
	{ID: "notVerified", EN: "Not verified", DE: "Nicht geprüft", What: "checks of a task ran and do not say that it is right, or could not run"},
	{ID: "noVerification", EN: "No verification planned", DE: "Keine Prüfung vorgesehen", What: "the plan asked for no check of a task", Retired: []string{"No check asked"}},
}

// All returns the whole table in its order.
func All() []Name { return append([]Name(nil), table...) }

// App returns how people call a thing with an id, such as the app "writer", in a language; the id
// itself of a thing without an entry.
func App(id string, l Language) string {
	n, ok := Of(id)
	if !ok {
		return id
	}
	if l == German {
		return n.DE
	}
	return n.EN
}

// Of returns the entry with an id; false if there is none.
func Of(id string) (Name, bool) {
	i := slices.IndexFunc(table, func(n Name) bool { return n.ID == id })
	if i < 0 {
		return Name{}, false
	}
	return table[i], true
}
