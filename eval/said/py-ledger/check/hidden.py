from ledger import parse_amount

for text, cents in {"1,234.50": 123450, "-12,345,678": -1234567800, "999": 99900, "1234.5": 123450}.items():
    assert parse_amount(text) == cents, text
for text in ["1,2", "12,34", ",123", "1,,234", "1234,567", "1.5,000", "1,234,"]:
    try:
        parse_amount(text)
    except ValueError:
        continue
    raise SystemExit(text + " is taken")
