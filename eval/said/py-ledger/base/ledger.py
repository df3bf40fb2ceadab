"""A ledger: one entry a line, an amount and what it was for."""


def parse_amount(text):
    """Return an amount such as 12, -3.5 or 12.50 in cents."""
    text = text.strip()
    sign = -1 if text.startswith("-") else 1
    whole, dot, rest = text.removeprefix("-").partition(".")
    if not whole.isdigit() or dot and not (rest.isdigit() and len(rest) <= 2):
        raise ValueError(f"{text!r} is no amount")
    return sign * (int(whole) * 100 + int(rest.ljust(2, "0") or 0))


def total(lines):
    """Return the sum of the lines' amounts in cents."""
    return sum(parse_amount(line.split(maxsplit=1)[0]) for line in lines if line.strip())
