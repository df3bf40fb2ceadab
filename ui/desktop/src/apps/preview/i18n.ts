import { defineWords } from "../../i18n/words";

export const words = defineWords({
  en: {
    address: "Address",
    hint: "Port, or http://localhost:8000/",
    go: "Go",
    reload: "Reload",
    page: "Page at {address}",
    empty: "See what runs in the sandbox",
    emptyMore: "Type the port of a server that was started in a terminal or by an agent, such as 8000.",
    wrong: "This is no place in the sandbox: type a port from 1 to 65535, or http://localhost:PORT/path.",
  },
  de: {
    address: "Adresse",
    hint: "Port oder http://localhost:8000/",
    go: "Los",
    reload: "Neu laden",
    page: "Seite unter {address}",
    empty: "Ansehen, was in der Sandbox läuft",
    emptyMore: "Den Port eines Servers eingeben, der im Terminal oder von einem Agenten gestartet wurde, etwa 8000.",
    wrong: "Das ist kein Ort in der Sandbox: einen Port von 1 bis 65535 eingeben, oder http://localhost:PORT/pfad.",
  },
});
