import { approvals } from "./approvals";
import { events } from "./events";
import { gaps } from "./gaps";
import { hosts } from "./hosts";
import { limits } from "./limits";
import { log } from "./log";
import { login } from "./login";
import { models } from "./models";
import { phrase } from "./phrase";
import { recover } from "./recover";
import { runs } from "./runs";
import { sandboxes } from "./sandboxes";
import { time } from "./time";
import { work } from "./work";

/** The English texts that come with the first page beside the desktop. */
export const late = {
  approvals,
  events,
  gaps,
  hosts,
  limits,
  log,
  login,
  models,
  phrase,
  recover,
  runs,
  sandboxes,
  time,
  work,
};
