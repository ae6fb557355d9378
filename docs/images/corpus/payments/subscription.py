"""What customers pay every month."""

from payments.retry import charge, charge_with_retries


def renew(customer):
    """Renew a subscription; whoever cannot pay keeps access for a week."""
    if customer.is_trial:
        return charge(customer.card, 0)
    return charge_with_retries(customer.card, customer.plan.price)
