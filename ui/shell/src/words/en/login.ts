/** The texts of the login. */
export const login = {
  already: "You are logged in already",
  not: "You are not logged in",
  goOn: "Go on with the session of this browser",
  openLink: "Open the link that `choir up` printed. It works once; `choir up --link` prints a new one.",
  unkept: "This browser did not keep the session's cookie, which is a secure one.",
  unkeptMore:
    "WebKit browsers such as GNOME Web keep none from an http address; others do, unless cookies are blocked. Allow cookies for {host} or use Firefox or Chromium, with a new link from `choir up --link`. The `choir` command line needs no browser.",
} as const;
