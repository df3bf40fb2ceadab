"""Wraps the lines of a mail."""


def fill(words, width):
    lines = []
    while words:
        line = ""
        while words and len(line) + bool(line) + len(words[0]) <= width:
            line = (line + " " + words.pop(0)).strip()
        lines.append(line)
    return lines


def wrap(text, width=72):
    """Returns the text with its paragraphs wrapped at width columns. Blank lines part paragraphs."""
    out = []
    for paragraph in text.split("\n\n"):
        out.append("\n".join(fill(paragraph.split(), width)))
    return "\n\n".join(out)
