/** Rows and cells of comma-separated values (RFC 4180); the separator is the commonest of , ; and tab in the first line. */
export function readCSV(text: string, separator = separatorOf(text)): string[][] {
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

/** The commonest of , ; and tab in the first line of a text. */
export function separatorOf(text: string): string {
  const bare = text.slice(0, text.indexOf("\n") + 1 || text.length).replace(/"[^"]*"/g, "");
  const count = (s: string) => bare.split(s).length;
  return [",", ";", "\t"].reduce((best, s) => (count(s) > count(best) ? s : best));
}

const QUOTE = 34;
const NEWLINE = 10;

/**
 * Comma-separated values of which only the places of the rows are known: a row is read when
 * it is asked for, so that a table of half a million rows costs little more than its text.
 */
export class Sheet {
  private readonly most: number;
  private text = "";
  private separator = "";
  /** Where each row begins. */
  private readonly starts: number[] = [0];
  private quoted = false;
  /** Nothing of the present cell has come yet, so a quote opens it. */
  private fresh = true;
  /** A quote has come within quotes: it closes them, unless the next sign is one too. */
  private half = false;

  /** A sheet that takes so many rows at most. */
  constructor(most: number) {
    this.most = most;
  }

  /** How many rows it has; the first has the names of the columns. */
  get rows(): number {
    return Math.min(this.begun, this.most);
  }

  /** More rows came than it takes. */
  get full(): boolean {
    return this.begun > this.most;
  }

  private get begun(): number {
    return this.starts.length - (this.starts.at(-1) === this.text.length ? 1 : 0);
  }

  /** Adds what comes next of the text. The separator follows from the first piece. */
  add(piece: string): void {
    if (piece === "" || this.full) return;
    this.separator ||= separatorOf(piece);
    const separator = this.separator.charCodeAt(0);
    const from = this.text.length;
    this.text += piece;
    for (let i = 0; i < piece.length; i++) {
      const sign = piece.charCodeAt(i);
      if (this.half) {
        this.half = false;
        if (sign === QUOTE) continue;
        this.quoted = false;
      }
      if (this.quoted) this.half = sign === QUOTE;
      else if (sign === NEWLINE) {
        this.fresh = true;
        this.starts.push(from + i + 1);
        if (this.full) return;
      } else {
        this.quoted = sign === QUOTE && this.fresh;
        this.fresh = sign === separator;
      }
    }
  }

  /** The cells of a row; none of one that is not there. */
  row(n: number): string[] {
    if (n >= this.rows) return [];
    return readCSV(this.text.slice(this.starts[n], this.starts[n + 1]), this.separator)[0] ?? [];
  }
}

/** The encoding of a text by its first bytes: a mark says so, else it is UTF-8, or what spreadsheets write in the West. */
export function encodingOf(head: Uint8Array): string {
  if (head[0] === 0xff && head[1] === 0xfe) return "utf-16le";
  if (head[0] === 0xfe && head[1] === 0xff) return "utf-16be";
  try {
    // A sign that is cut at the end is none that is wrong.
    new TextDecoder("utf-8", { fatal: true }).decode(head, { stream: true });
    return "utf-8";
  } catch {
    return "windows-1252";
  }
}
