"""Results of ``robot.inspect()``."""

from dataclasses import dataclass
from typing import Any

from symgen.inspection.looking import page_of
from symgen.inspection.page import on_terminal
from symgen.jobs.job import Job
from symgen.reading.assemble import LoadedRobot
from symgen.text import html


@dataclass(frozen=True, repr=False)
class Inspection:
    """The bodies, frames and base parameters of a robot: `data` is that of ``symgen inspect
    --json``. Notebooks show the interactive page of ``symgen inspect --html``."""

    job: Job
    loaded: LoadedRobot
    data: dict[str, Any]

    def __getitem__(self, key: str) -> Any:
        return self.data[key]

    def __repr__(self) -> str:
        return f"Inspection({self.data['robot']!r}: {', '.join(self.data)})"

    def show(self) -> None:
        """Print the output of ``symgen inspect``."""
        on_terminal(self.data)

    def page(self) -> str:
        """Return the page of ``symgen inspect --html`` as text."""
        return page_of(self.job, self.loaded, self.data)

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{html(self.page())}" width="100%" height="600"></iframe>'
