/** What is said of the sandboxes of a computer, and of the pages that agents wrote. */
export const sandboxes = {
  title: "Agents work in sandboxes",
  closed:
    "Their programs have no network but the model gateway and the bus, nothing of your home folder, and no secrets.",
  hosts:
    "Their programs have no network but the model gateway, the bus and the hosts of choir.toml ({mode}), nothing of your home folder, and no secrets.",
  director: "Director",
  associate: "Associate",
  notRunning: ", not running",
  limits: "Limits: {limits}",
  missing: "Missing on this machine: {what}",
  pagesHere: "Pages in this browser",
  pagesHeld: "The desktop and previews are held to this computer.",
  pagesFree:
    "This browser ({browser}) does not hold WebRTC back: a page your agents wrote can reach the network. Chromium from version 156 on holds it.",
  thisBrowser: "this one",
} as const;
