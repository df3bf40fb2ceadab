// What a failed test shows of the pages it was about.
import { afterEach } from "node:test";

/** How long one page may take to be read, in milliseconds: a page that hangs is said to. */
const READ_MS = 3_000;
/** The most lines of one page, and of the errors of its console, in a report. */
const LINES = 80;
const COMPLAINTS = 8;

/** Adds what every page showed, and what the first one complained about, to the error of a failed test. */
export function showPagesOfFailures(it) {
  afterEach(async ({ error }) => {
    const cause = error?.cause ?? error;
    if (!(cause instanceof Error) || !it.context) return;
    const shown = await Promise.all(it.context.pages().map(describePage));
    const complaints = it.complaints.slice(-COMPLAINTS).map((line) => `complained: ${line}`);
    cause.message = [cause.message, ...shown, ...complaints].join("\n");
  });
}

async function describePage(page) {
  const parts = await Promise.all(page.frames().map(describeFrame));
  return parts.join("\n");
}

async function describeFrame(frame) {
  const tree = await frame
    .locator("body")
    .ariaSnapshot({ timeout: READ_MS })
    .catch((error) => `not read: ${error.message}`);
  const lines = tree.split("\n");
  const left = lines.length > LINES ? [`and ${lines.length - LINES} more lines`] : [];
  return [`the page ${withoutSecret(frame.url())} showed:`, ...lines.slice(0, LINES), ...left].join("\n");
}

/** A ticket in an address lets its reader in, and reports are kept. */
function withoutSecret(address) {
  return address.replace(/[?#].*$/, "");
}
