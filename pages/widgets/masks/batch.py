"""A batch as the model holds it: every text in a row of its own, filled up with padding to one length."""

import html
from collections.abc import Sequence
from string import Template

import numpy as np

STYLE = Template("""<style>
.batch-rows {overflow-x: auto; padding-bottom: .4rem; font-size: .8125rem; line-height: 1.3;}
.batch-rows table {border-collapse: separate; border-spacing: 3px; width: auto;}
.batch-rows th {font-weight: 400; opacity: .75; text-align: center; padding: 0 .3rem; white-space: nowrap;}
.batch-rows tr > th:first-child {text-align: left; position: sticky; left: 0; opacity: 1;}
.batch-rows td {text-align: center; white-space: nowrap; padding: .15rem .45rem; border-radius: 3px; border: 0;}
.batch-rows td.real {background: color-mix(in srgb, var(--real) 16%, transparent);
  border: 1px solid color-mix(in srgb, var(--real) 45%, transparent);}
.batch-rows td.hidden {background: repeating-linear-gradient(-60deg, $masked 0 5px, transparent 5px 9px);
  border: 1px solid $masked;}
</style>""")
MASKED = "rgba(128, 128, 128, 0.35)"


def batch_table(
    rows: Sequence[Sequence[str]], real: np.ndarray, names: Sequence[str], corner: str, color: str, picked: int | None = None
) -> str:
    """A table in HTML: a row for each text, a column for each position; padding is hatched.

    Args:
        rows: the tokens of each text, padding included.
        real: [item, position]; False for padding.
        names: what each text is called.
        corner: what the columns count.
        color: of what is real.
        picked: the text that is looked at, whose name is bold; counted from 0.
    """
    head = "".join(f'<th scope="col">{position}</th>' for position in range(real.shape[1]))
    body = []
    for item, (row, name) in enumerate(zip(rows, names, strict=True)):
        called = f"<b>{html.escape(name)}</b>" if item == picked else html.escape(name)
        cells = "".join(
            f'<td class="{"real" if real[item, position] else "hidden"}">{html.escape(token)}</td>'
            for position, token in enumerate(row)
        )
        body.append(f'<tr><th scope="row">{called}</th>{cells}</tr>')
    table = f'<table><tr><th scope="col">{html.escape(corner)}</th>{head}</tr>{"".join(body)}</table>'
    return f'{STYLE.substitute(masked=MASKED)}<div class="batch-rows" tabindex="0" style="--real: {color}">{table}</div>'
