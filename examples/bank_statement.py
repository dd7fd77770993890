"""Read a bank statement in CSV and sum it up by month and by category."""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path

COLUMNS = ("date", "payee", "amount", "currency")

CATEGORIES = {
    "groceries": ("market", "bakery", "grocer"),
    "transport": ("railway", "taxi", "fuel"),
    "housing": ("rent", "electricity", "water"),
}


class StatementError(ValueError):
    """A line of the statement that can't be read."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line = line
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Transaction:
    """One booking; a negative amount is money spent."""

    day: date
    payee: str
    amount: Decimal
    currency: str

    @property
    def category(self) -> str:
        """The first category with a keyword in the payee's name, else "other"."""
        payee = self.payee.lower()
        for category, keywords in CATEGORIES.items():
            if any(keyword in payee for keyword in keywords):
                return category
        return "other"


def parse_amount(text: str) -> Decimal:
    """Read an amount such as "-1,234.50" and return it exactly.

    Raises ValueError if the text is not a number.
    """
    cleaned = text.strip().replace(",", "")
    try:
        return Decimal(cleaned)
    except InvalidOperation:
        raise ValueError(f"not an amount: {text!r}") from None


def read_transactions(lines: Iterable[str]) -> Iterator[Transaction]:
    """Yield the transactions of a statement in the order in which they stand there."""
    reader = csv.DictReader(lines)
    missing = [name for name in COLUMNS if name not in (reader.fieldnames or [])]
    if missing:
        raise StatementError(1, f"missing columns: {', '.join(missing)}")
    for row in reader:
        try:
            day = datetime.strptime(row["date"], "%Y-%m-%d").date()
            amount = parse_amount(row["amount"])
        except ValueError as error:
            raise StatementError(reader.line_num, str(error)) from error
        yield Transaction(day, row["payee"].strip(), amount, row["currency"].upper())


def read_file(path: Path) -> list[Transaction]:
    """Read the statement in a file."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(read_transactions(file))


def total_by_category(transactions: Iterable[Transaction]) -> dict[str, Decimal]:
    """Return the sum of the amounts of each category."""
    totals: defaultdict[str, Decimal] = defaultdict(Decimal)
    for transaction in transactions:
        totals[transaction.category] += transaction.amount
    return dict(totals)


def total_by_month(transactions: Iterable[Transaction]) -> dict[tuple[int, int], Decimal]:
    """Return the sum of the amounts of each month, keyed by year and month."""
    totals: defaultdict[tuple[int, int], Decimal] = defaultdict(Decimal)
    for transaction in transactions:
        totals[transaction.day.year, transaction.day.month] += transaction.amount
    return dict(totals)


STATEMENT = """\
date,payee,amount,currency
2026-01-03,Corner Bakery,-4.20,eur
2026-01-05,City Railway,-49.00,eur
2026-02-01,Rent February,-850.00,eur
2026-02-03,Salary,"2,310.75",eur
"""


def main() -> None:
    """Print the totals of a small statement."""
    transactions = list(read_transactions(io.StringIO(STATEMENT)))
    for category, amount in sorted(total_by_category(transactions).items()):
        print(f"{category:<12}{amount:>12}")
    for (year, month), amount in total_by_month(transactions).items():
        print(f"{year}-{month:02d}     {amount:>12}")


if __name__ == "__main__":
    main()
