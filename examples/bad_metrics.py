"""Statistics of the bad monitor. They do not look like hooks, but they run inside them."""


def saturation(activation, edge=0.5):
    """Share of the activations beyond the edge."""
    beyond = (activation.abs() > edge).sum()
    if beyond > 0:
        return float(beyond) / activation.numel()
    return 0.0


def gradient_summary(grad):
    norm = grad.norm()
    if norm.isnan():
        return "gradient is not a number"
    mean = grad.mean().item()
    return f"gradient norm {norm:.3e}, mean {mean:.3e}"
