import { defineWords } from "../../i18n/words";

export const words = defineWords({
  en: {
    nothing: "Nothing to show",
    nothingMore: "Open a picture, sound, film, PDF, table, JSON or Markdown from Files.",
    notText: "This file is no text that can be shown here",
    larger: "Larger",
    smaller: "Smaller",
    fit: "Fit the window",
    download: "Download",
    edit: "Edit",
    table: "Table of {name}",
    rows: { one: "{n} row", other: "{n} rows" },
    badJSON: "This is not valid JSON: {why}",
    more: { one: "{n} more", other: "{n} more" },
  },
  de: {
    nothing: "Nichts zu zeigen",
    nothingMore: "Bild, Ton, Film, PDF, Tabelle, JSON oder Markdown aus „Dateien“ öffnen.",
    notText: "Diese Datei ist kein Text, der hier gezeigt werden kann",
    larger: "Größer",
    smaller: "Kleiner",
    fit: "Ans Fenster anpassen",
    download: "Herunterladen",
    edit: "Bearbeiten",
    table: "Tabelle von {name}",
    rows: { one: "{n} Zeile", other: "{n} Zeilen" },
    badJSON: "Das ist kein gültiges JSON: {why}",
    more: { one: "{n} weitere", other: "{n} weitere" },
  },
});
