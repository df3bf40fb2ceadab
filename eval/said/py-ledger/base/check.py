"""Tries parse_amount and total, and says what is wrong with them."""

import sys

from ledger import parse_amount, total

wrong = []
for text, cents in {"12": 1200, "-3.5": -350, "12.50": 1250, " 7 ": 700}.items():
    if parse_amount(text) != cents:
        wrong.append(f"{text!r} is {parse_amount(text)}, not {cents}")
for text in ["", "-", "1.2.3", "1.234", "a", "1,2", ",5", "12,34", "1.5,0"]:
    try:
        wrong.append(f"{text!r} is taken for {parse_amount(text)}")
    except ValueError:
        pass
if total(["3 tea", "", "-1.50 change"]) != 150:
    wrong.append("the total of 3 and -1.50 is not 1.50")
print("\n".join(wrong) or "14 are right")
sys.exit(bool(wrong))
