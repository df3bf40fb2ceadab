/** The address of a link that leads outside, if it may be followed. */
export function outside(address: string, own: string): string | undefined {
  let url: URL;
  try {
    url = new URL(address, own);
  } catch {
    return undefined;
  }
  const web = url.protocol === "http:" || url.protocol === "https:";
  return web && url.origin !== new URL(own).origin ? url.href : undefined;
}
