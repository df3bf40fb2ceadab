"""Wraps the lines of a mail."""


def fill(words, width, first="", rest=""):
    """Returns the words in lines of up to width columns, the first behind first, others behind rest."""
    lines, line, empty = [], first, True
    for word in words:
        if not empty and len(line) + 1 + len(word) > width:
            lines.append(line)
            line, empty = rest, True
        line += word if empty else " " + word
        empty = False
    if not empty:
        lines.append(line)
    return lines


def blocks(paragraph):
    """Parts a paragraph into quoted lines, items and running text, as (kind, lines)."""
    out = []
    for line in paragraph.split("\n"):
        if line.startswith(">"):
            out.append(("quote", [line]))
        elif line.startswith(("- ", "* ")):
            out.append((line[:2], [line[2:]]))
        elif out and out[-1][0] != "quote":
            out[-1][1].append(line)
        else:
            out.append(("", [line]))
    return out


def wrap(text, width=72):
    """Returns the text with its paragraphs wrapped at width columns. Blank lines part paragraphs."""
    out = []
    for paragraph in text.split("\n\n"):
        lines = []
        for kind, content in blocks(paragraph):
            if kind == "quote":
                lines += content
            else:
                lines += fill(" ".join(content).split(), width, kind, " " * len(kind))
        out.append("\n".join(lines))
    return "\n\n".join(out)
