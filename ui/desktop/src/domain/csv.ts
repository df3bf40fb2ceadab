/** Rows and cells of comma-separated values (RFC 4180); the separator is the commonest of , ; and tab in the first line. */
export function readCSV(text: string): string[][] {
  const separator = separatorOf(text.slice(0, text.indexOf("\n") + 1 || text.length));
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = "";
  let quoted = false;
  const endCell = () => {
    row.push(cell);
    cell = "";
  };
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (quoted) {
      if (c !== '"') cell += c;
      else if (text[i + 1] === '"') cell += text[++i];
      else quoted = false;
    } else if (c === '"' && cell === "") quoted = true;
    else if (c === separator) endCell();
    else if (c === "\n") {
      endCell();
      rows.push(row);
      row = [];
    } else if (c !== "\r" || text[i + 1] !== "\n") cell += c;
  }
  if (cell !== "" || row.length > 0) {
    endCell();
    rows.push(row);
  }
  return rows;
}

function separatorOf(line: string): string {
  const bare = line.replace(/"[^"]*"/g, "");
  const count = (s: string) => bare.split(s).length;
  return [",", ";", "\t"].reduce((best, s) => (count(s) > count(best) ? s : best));
}
