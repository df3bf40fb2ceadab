const units = ["B", "kB", "MB", "GB"];

/** A number of bytes: 950 B, 12.3 kB, 4.1 MB. */
export function bytes(n: number, language: string): string {
  const at = n < 1000 ? 0 : n < 999_950 ? 1 : n < 999_950_000 ? 2 : 3;
  return `${(n / 1000 ** at).toLocaleString(language, { maximumFractionDigits: at && 1 })} ${units[at]}`;
}
