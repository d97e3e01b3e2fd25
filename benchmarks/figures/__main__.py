"""`make figures`: recount operations, and write every page that a stored result gives."""

from benchmarks import operations, rotors
from benchmarks.bench import report
from benchmarks.figures import counts, pages
from benchmarks.figures.counts import ROOT
from benchmarks.figures.values import results

DOCS = ROOT / "docs"


def whole_pages() -> dict[str, str]:
    """The pages that scripts write as a whole, by path below docs/."""
    stored = counts.stored()
    return {
        "benchmarks/README.md": report.page(results("results")),
        "benchmarks/operations.md": operations.text(stored["peers"]),
        "rotors.md": "\n".join(rotors.lines(stored["rotors"])) + "\n",
    }


def main() -> None:
    """Write counts.json and the pages."""
    counts.recount()
    results.cache_clear()
    for name, text in whole_pages().items():
        (DOCS / name).write_text(text, encoding="utf-8", newline="\n")
    for path in pages.write():
        print(f"wrote {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
