"""What forms.py calls from a hook: the waits are here, the hook is there."""


def spread(t):
    low = t.min().item()  # HW101
    if t.max() > low:  # HW103
        return "spread"
    return "flat"
