"""Pictures of a prediction."""

from symgen.identification.panels import PNG, Strip, encoded, over_time, residuals
from symgen.identification.prediction import Prediction


def pictures(found: Prediction, kind: str = PNG) -> dict[str, bytes]:
    """Files of a kind by name. Raises SymgenError where matplotlib is missing."""
    strips = strips_of(found)
    figures = {
        "predicted": over_time(found.points, strips),
        "residuals": residuals(found.points, strips),
    }
    return {f"{name}.{kind}": encoded(figure, kind) for name, figure in figures.items()}


def strips_of(found: Prediction) -> list[Strip]:
    """The channels, with the part of each that is not predicted."""
    strips = []
    for j, channel in enumerate(found.channels):
        share = channel.views["filtered"].relative or channel.views["all"].relative
        said = "" if share is None else f"{100 * share:.1f} % off"
        strips.append(Strip(j, channel.name, channel.unit, said))
    return strips
