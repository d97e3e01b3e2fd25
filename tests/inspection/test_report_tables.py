"""Reports: the same tables and lines on a terminal, as JSON and as HTML."""

import json

from symgen.inspection.rendering import Report, ReportTable, StyledText

ROWS = [("a[b]", StyledText("ok", "green"), "1.5"), ("<c>", "", "20")]
REPORT = Report(
    [ReportTable("sizes [m]", ["name", "mark"], ["size"], ROWS, frozenset({1})), "2 <rows> [x]"],
    {"rows": 2},
)


def test_a_report_prints_cells_as_they_are(capsys):
    REPORT.print()
    lines = [line.split() for line in capsys.readouterr().out.splitlines() if line.strip()]
    assert lines[0] == ["sizes", "[m]"] and lines[1] == ["name", "mark", "size"]
    assert ["a[b]", "ok", "1.5"] in lines and ["<c>", "20"] in lines
    assert lines[-1] == ["2", "<rows>", "[x]"]


def test_a_report_as_json_is_its_data(capsys):
    REPORT.print(as_json=True)
    assert json.loads(capsys.readouterr().out) == {"rows": 2} == json.loads(REPORT.json())


def test_a_report_as_html_escapes_cells_and_lines():
    text = REPORT.html()
    assert "<caption>sizes [m]</caption>" in text and "<td>a[b]</td><td>ok</td>" in text
    assert "<td>&lt;c&gt;</td>" in text and "<p>2 &lt;rows&gt; [x]</p>" in text
