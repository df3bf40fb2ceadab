import type { Translated } from "#base/domain/words.ts";
import type { login as english } from "../en/login";

export const login: Translated<typeof english> = {
  already: "Schon angemeldet",
  not: "Nicht angemeldet",
  goOn: "Mit der Sitzung dieses Browsers weitermachen",
  openLink:
    "Zum Anmelden den Link öffnen, den `choir up` ausgegeben hat. Er gilt einmal; `choir up --link` gibt einen neuen aus.",
  unkept: "Dieser Browser hat das Cookie der Sitzung nicht behalten, ein sicheres Cookie.",
  unkeptMore:
    "WebKit-Browser wie GNOME Web behalten keines von einer http-Adresse; andere tun es, wenn Cookies nicht gesperrt sind. Cookies für {host} erlauben oder Firefox oder Chromium benutzen, mit einem neuen Link von `choir up --link`. Die Befehlszeile `choir` braucht keinen Browser.",
};
