"""Charges that did not go through."""

import time

ATTEMPTS = 3


class DeclinedError(Exception):
    """The bank said no."""


def charge_with_retries(card, amount):
    """Charge a card, and once more after a pause where the bank declined it for the moment."""
    for attempt in range(ATTEMPTS):
        try:
            return charge(card, amount)
        except DeclinedError:
            time.sleep(2**attempt)
    raise DeclinedError


def charge(card, amount):
    """Ask the bank for the amount."""
    return card.bank.request(amount, currency="EUR")
