/** An address that stands alone in a text; undefined for anything else. */
export function addressIn(text: string): string | undefined {
  const line = text.trim();
  if (/\s/.test(line) || !/^https?:\/\//i.test(line) || !URL.canParse(line)) return undefined;
  return new URL(line).href;
}
