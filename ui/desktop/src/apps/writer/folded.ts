/** A text in lines that a page can lay out: of each that is seen, all is measured once. */
export function folded(text: string): string {
  // By lines, because a pattern over the whole would begin anew at each of their characters.
  const fold = (line: string) => (line.length > 2000 ? line.replace(/.{1000,1999}[ \t]|.{2000}/g, "$&\n") : line);
  return text.split("\n").map(fold).join("\n");
}
