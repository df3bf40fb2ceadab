import { approvals } from "./approvals";
import { bar } from "./bar";
import { desktop } from "./desktop";
import { events } from "./events";
import { gaps } from "./gaps";
import { hosts } from "./hosts";
import { launcher } from "./launcher";
import { limits } from "./limits";
import { log } from "./log";
import { login } from "./login";
import { models } from "./models";
import { page } from "./page";
import { phrase } from "./phrase";
import { recover } from "./recover";
import { runs } from "./runs";
import { sandboxes } from "./sandboxes";
import { step } from "./step";
import { time } from "./time";
import { work } from "./work";

/** All texts of the shell in German, by the part of the page that they are of. */
export const de = {
  approvals,
  bar,
  desktop,
  events,
  gaps,
  hosts,
  launcher,
  limits,
  log,
  login,
  models,
  page,
  phrase,
  recover,
  runs,
  sandboxes,
  step,
  time,
  work,
};
