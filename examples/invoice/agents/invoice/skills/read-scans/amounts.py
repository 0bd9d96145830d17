"""Lists the amounts in the text of an invoice: line number, amount, line; tab-separated.

Usage: python3 amounts.py [FILE]
"""

import fileinput
import re

# Two decimals, and at most one separator before each group of three digits. Dates and longer identifiers do not match.
AMOUNT = re.compile(r"(?<![\w.,])[-−]?\d{1,3}(?:[.,'’ \u00a0\u202f]?\d{3})*[.,]\d{2}(?![.,]?\w)")


def decimal(amount: str) -> str:
    digits = re.sub(r"\D", "", amount)
    sign = "-" if amount[0] in "-−" else ""
    return f"{sign}{digits[:-2]}.{digits[-2:]}"


for line in fileinput.input(encoding="utf-8"):
    for match in AMOUNT.finditer(line):
        print(fileinput.lineno(), decimal(match.group()), line.strip(), sep="\t")
