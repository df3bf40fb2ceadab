/** The longest address that is shown whole and may be opened, in characters. */
const MAX_ADDRESS = 2_000;

/**
 * The address of a link as a browser will ask for it, which is how it is shown:
 * names in other scripts as xn--, other characters as %. Undefined for what is
 * no page of the web, is too long to be read, or hides its host behind a name.
 */
export function readLink(text: string): string | undefined {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return undefined;
  }
  const web = url.protocol === "http:" || url.protocol === "https:";
  const plain = url.username === "" && url.password === "" && url.href.length <= MAX_ADDRESS;
  return web && plain ? url.href : undefined;
}
