import type { Translated } from "#base/domain/words.ts";
import type { hosts as english } from "../en/hosts";

export const hosts: Translated<typeof english> = {
  title: "Hosts im Netz",
  asked: { one: "Eine Aufgabe fragt nach einem Host", other: "Aufgaben fragen nach {n} Hosts" },
  none: "Die Regel ist none: Programme in den Sandboxen erreichen keinen Host, und hier lässt sich keiner freigeben. In {file} unter [egress] mode = „allowlist“ schreiben, dann: choir egress reload",
  policy:
    "Die Regel in choir.toml ist {mode}. Was nicht dazugehört, wird verweigert und hier angefragt. Eine Freigabe gilt für einen Host und einen Port; Adressen dieser Maschine und ihres Netzes bleiben zu.",
  reading: "Die Anfragen werden gelesen…",
  notRead: "Die Anfragen ließen sich nicht lesen: {why}",
  requests: "Angefragt",
  nobody: "Keine Aufgabe fragt nach einem Host.",
  unlisted: {
    one: "{n} weitere Verweigerung fand hier keinen Platz.",
    other: "{n} weitere Verweigerungen fanden hier keinen Platz.",
  },
  policyRefused: "Gehört nicht zur Regel {mode}",
  taskRefused: "Gehört nicht zur eigenen Regel {mode} der Aufgabe",
  ruleRefused: "Die Regel {mode} erlaubt nur manche Methoden und Pfade",
  wants: "Aufgabe: {text}",
  did: "Sie führte {tool} aus: {text}",
  over: "Diese Aufgabe ist beendet.",
  forTask: "Für diese Aufgabe",
  forRun: "Für diesen Lauf",
  always: "Immer",
  deny: "Ablehnen",
  granted: "Freigegeben",
  nothing: "Nichts ist freigegeben.",
  heldTask: "für eine Aufgabe",
  heldRun: "für einen Lauf",
  heldAlways: "immer",
  until: "bis {time}",
  revoke: "Widerrufen",
};
