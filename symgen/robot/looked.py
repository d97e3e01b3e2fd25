"""Results of ``robot.inspect()``."""

from dataclasses import dataclass
from typing import Any

from symgen.inspection.looking import page_of
from symgen.inspection.page import on_terminal
from symgen.jobs.job import Job
from symgen.reading.assemble import Loaded
from symgen.text import html


@dataclass(frozen=True, repr=False)
class Inspection:
    """Everything about the robot of a `job` as `data` (that of ``symgen inspect --json``), by key;
    notebooks show the page of ``symgen inspect --html``, on which the robot moves."""

    job: Job
    loaded: Loaded
    data: dict[str, Any]

    def __getitem__(self, key: str) -> Any:
        return self.data[key]

    def __repr__(self) -> str:
        return f"Inspection({self.data['robot']!r}: {', '.join(self.data)})"

    def show(self) -> None:
        """Print it as ``symgen inspect`` does."""
        on_terminal(self.data)

    def page(self) -> str:
        """One HTML file with all of it."""
        return page_of(self.job, self.loaded, self.data)

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{html(self.page())}" width="100%" height="600"></iframe>'
