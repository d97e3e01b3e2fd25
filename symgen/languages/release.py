"""The version and the address of a generated package (not those of symgen)."""

import re
from typing import ClassVar, Final

from symgen.errors import OptionError
from symgen.options import group, option
from symgen.text import cited

NUMBER: Final = r"(0|[1-9][0-9]{0,8})"
ADDRESS: Final = r"https?://[\w.~:/?@+,=%-]{1,200}"


@group
class Release:
    """The version of a module, MAJOR.MINOR.PATCH (Semantic Versioning 2.0.0), and the address of
    its project, which may be empty."""

    SECTION: ClassVar[str] = "Output"

    module_version: str = option(
        "--module-version",
        "X.Y.Z",
        "Version of the module. It is written into build files, manifest and wheel.",
        rare=True,
        default="0.1.0",
        applies_to=("c", "rust", "symgen build"),
    )
    module_url: str = option(
        "--module-url",
        "URL",
        "Address of the project. It is written into packages that name one.",
        rare=True,
        default="",
        applies_to=("c", "rust", "symgen build"),
    )

    def validate(self) -> None:
        """Raises OptionError for what some package would not take."""
        version, url = self.module_version, self.module_url
        if not re.fullmatch(rf"{NUMBER}\.{NUMBER}\.{NUMBER}", version, re.ASCII):
            raise OptionError(f"--module-version {cited(version)}: give X.Y.Z, such as 1.2.0")
        if url and not re.fullmatch(ADDRESS, url, re.ASCII):
            raise OptionError(
                f"--module-url {cited(url)}: give an address such as https://example.com/arm"
            )

    @property
    def unstable(self) -> bool:
        """Whether minor versions may break what uses them."""
        return self.module_version.startswith("0.")

    @property
    def interface(self) -> str:
        """The part of the version that all versions share which can stand for each other."""
        major, minor, _ = self.module_version.split(".")
        return f"{major}.{minor}" if self.unstable else major
