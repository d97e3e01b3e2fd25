"""Pictures of a prediction."""

from symgen.identification.panels import Strip, over_time, png, residuals
from symgen.identification.prediction import Prediction


def pictures(found: Prediction) -> dict[str, bytes]:
    """PNG files by name. Raises SymgenError where matplotlib is missing."""
    strips = strips_of(found)
    return {
        "predicted.png": png(over_time(found.points, strips)),
        "residuals.png": png(residuals(found.points, strips)),
    }


def strips_of(found: Prediction) -> list[Strip]:
    """The channels, with the part of each that is not predicted."""
    strips = []
    for j, channel in enumerate(found.channels):
        share = channel.views["filtered"].relative or channel.views["all"].relative
        said = "" if share is None else f"{100 * share:.1f} % off"
        strips.append(Strip(j, channel.name, channel.unit, said))
    return strips
