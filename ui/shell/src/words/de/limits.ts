import type { Translated } from "#base/domain/words.ts";
import type { limits as english } from "../en/limits";

export const limits: Translated<typeof english> = {
  processes: "Prozesse in einer Sandbox.",
  memory_mb: "Arbeitsspeicher einer Sandbox, MiB.",
  cpu_milli: "CPU einer Sandbox, Tausendstel eines Kerns.",
  run_steps: "Modellaufrufe des Directors in einem Lauf.",
  run_calls: "Modellaufrufe eines Laufs, Director, Associate und Programme zusammen.",
  run_tokens: "Token eines Laufs, Director, Associate und Programme zusammen.",
  run_cost_usd: "Kosten eines Laufs, US-Dollar; 0 ist keine Grenze.",
  run_seconds: "Dauer eines Laufs, Sekunden.",
  run_tasks: "Aufgaben eines Laufs.",
  cost_usd: "Kosten eines Computers insgesamt, seit sein Protokoll begann, US-Dollar; 0 ist keine Grenze.",
  desktop_cost_usd:
    "Kosten der Läufe, die auf der Arbeitsfläche beginnen, durch dich oder ihre Seite, in 24 Stunden, US-Dollar; 0 ist keine Grenze. Aufträge der Seiten oben und der CLI zählen nicht.",
  prompt_burst: "Aufträge in prompt_window Sekunden.",
  prompt_window: "Sekunden, siehe prompt_burst.",
  terminals: "Terminals eines Computers, die zugleich offen sind.",
  upload_mb: "Größe eines Projekts oder einer Datei, die hereinkommt, MiB.",
};
