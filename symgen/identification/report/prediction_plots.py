"""Pictures of a prediction."""

from symgen.identification.prediction.prediction_errors import Prediction
from symgen.identification.report.panels import PNG, Strip, encoded, over_time, residuals


def pictures(prediction: Prediction, kind: str = PNG) -> dict[str, bytes]:
    """Files of a kind by name. Raises SymgenError where matplotlib is missing."""
    strips = strips_of(prediction)
    figures = {
        "predicted": over_time(prediction.points, strips),
        "residuals": residuals(prediction.points, strips),
    }
    return {f"{name}.{kind}": encoded(figure, kind) for name, figure in figures.items()}


def strips_of(prediction: Prediction) -> list[Strip]:
    """The channels, with the part of each that is not predicted."""
    strips = []
    for j, channel in enumerate(prediction.channels):
        share = channel.views["filtered"].relative or channel.views["all"].relative
        label = "" if share is None else f"error {100 * share:.1f} %"
        strips.append(Strip(j, channel.name, channel.unit, label))
    return strips
