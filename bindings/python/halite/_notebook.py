# SPDX-License-Identifier: Apache-2.0
"""How an interpreter looks in a notebook: a table of its nodes with their tensors, places and times."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from halite import _arrays

if TYPE_CHECKING:
    from halite._interpreter import Interpreter

_MOST_ROWS = 200


def table(interpreter: "Interpreter") -> str:
    """The table as HTML."""
    core = interpreter._core
    reports = {row[0]: row for row in core.node_reports()}
    rows = core.nodes()

    def tensors(indices: list[int]) -> str:
        kinds = [core.kind(i) for i in indices if i >= 0]
        return "<br>".join(html.escape(f"{_arrays.type_name(code).lower()}{list(shape)}") for code, shape, _ in kinds)

    lines = ["<table><tr><th>node</th><th>operator</th><th>inputs</th><th>outputs</th><th>where</th><th>us</th></tr>"]
    for index, name, inputs, outputs in rows[:_MOST_ROWS]:
        report = reports.get(index)
        where = report[3] if report else ""
        if report and report[7] != index:
            where += f", by node {report[7]}"
        micros = f"{report[6] / report[5] / 1000:.1f}" if report and report[5] else ""
        lines.append(
            f"<tr><td>{index}</td><td>{html.escape(name)}</td><td>{tensors(inputs)}</td><td>{tensors(outputs)}</td>"
            f"<td>{html.escape(where)}</td><td>{micros}</td></tr>"
        )
    if len(rows) > _MOST_ROWS:
        lines.append(f"<tr><td colspan=6>&hellip; and {len(rows) - _MOST_ROWS} more</td></tr>")
    lines.append("</table>")
    return f"<b>{html.escape(repr(interpreter)[1:-1])}</b>" + "".join(lines)
