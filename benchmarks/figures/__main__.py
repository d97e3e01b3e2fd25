"""`make figures`: recount operations, and write every page that a stored result gives."""

from benchmarks.figures import counts, pages
from benchmarks.figures.counts import ROOT
from benchmarks.figures.values import results

DOCS = ROOT / "docs"


def main() -> None:
    """Write counts.json and the pages."""
    counts.recount()
    results.cache_clear()
    for name, page in pages.WHOLE_PAGES.items():
        (DOCS / name).write_text(page(), encoding="utf-8", newline="\n")
    for path in pages.write():
        print(f"wrote {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
