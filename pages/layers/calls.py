"""The calls that build and run the model, as two trees, and every field of the configuration."""

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import streamlit as st
from markupsafe import Markup

from pages.shell.frame.footer import show_computed
from pages.shell.view.recorded import own_network
from pages.shell.view.runs import Key, as_batches, runs
from pages.shell.view.view import View
from pages.ui.caches import cached
from pages.ui.cards import card
from pages.ui.component import picked
from pages.ui.format import setting
from pages.ui.pickers import pick, unfolding
from pages.ui.source import show_source
from pages.ui.style import style
from pages.ui.text import text
from pages.ui.tree import Line, tree
from transformer import PRESETS, Trace, TransformerConfig
from transformer.analysis.call_tree import Call, constructor_calls, explanation, find, forward_calls
from transformer.network.former_names import present_name
from transformer.tracing.paths import TensorPath
from transformer.tracing.trace import Ids

KEY = "calls-tree"
STYLE = style(Path(__file__).parent / "calls_fields.css")
LONG, LONG_HEIGHT = 900, 260  # text of more than LONG characters scrolls in a box LONG_HEIGHT pixels high


def show_calls(view: View, trace: Trace) -> None:
    """Draw the tree of calls that build the model or run it, the picked call, and below them the folded configuration."""
    words, model = text("calls"), own_network(view)
    if model is None:
        return
    st.markdown(words["intro"])
    which = pick(words["which"], list(words["trees"]), "tree")
    st.caption(words["trees"][which])
    built = which == "constructing"
    ids = () if built else (trace.source_ids, trace.target_ids)
    root = view.run(_built if built else _ran, view.key, *ids)
    calls = named(root)
    shown = present_name(st.query_params.get("call", ""))
    shown = shown if shown in calls else next(iter(calls))
    left, right = st.columns(2, gap="medium")
    with left:
        st.caption(words["hint"])
        lines = [_line(name, level, call, built) for (name, call), level in zip(calls.items(), levels(root), strict=True)]
        tree(lines, shown, words["trees"][which], f"{KEY}-{which}", lambda: _open(f"{KEY}-{which}", list(calls)))
        if built:
            st.caption(words["taps"].format(count=len(model.taps)))
    with right:
        _show(calls[shown])
    if fold := unfolding(words["configuration"], ":material/tune:", "configuration"):
        with fold:
            _configuration(model.config)
    show_computed(words["computed_text"], forward_calls)


@cached
def _built(key: Key) -> Call:
    return constructor_calls(runs().own_network(key))


@cached
def _ran(key: Key, sources: Ids, targets: Ids) -> Call:
    pipeline = runs().pipeline(key)
    return forward_calls(runs().own_network(key), *as_batches(pipeline, sources, targets))


def named(root: Call) -> dict[str, Call]:
    """Name → call, for all calls of a tree, in calling order. The names are unique, and used in URLs. An example:
    `encoder.layers.0.self_attention:scale`."""
    names: dict[str, Call] = {}
    for call in root:
        name = call.path if call.function.endswith((".forward", ".__init__")) else f"{call.path}:{call.name}".lstrip(":")
        name, number = name or call.name, 1
        while (unique := f"{name}:{number}" if number > 1 else name) in names:
            number += 1
        names[unique] = call
    return names


def levels(call: Call, level: int = 0) -> Iterator[int]:
    """The depth of each call in the tree, in the order of `named`. The root has the depth `level`."""
    yield level
    for below in call.calls:
        yield from levels(below, level + 1)


def _line(name: str, level: int, call: Call, built: bool) -> Line:
    words = text("calls")
    is_module = call.function.endswith((".forward", ".__init__"))
    path = TensorPath.parse(call.path)
    own = f"layers {path.layer}" if path.layer is not None and not path.sublayer else path.last
    between, whole = ("=" if built else " "), TransformerConfig.__name__
    inputs = ", ".join(name if value == whole else f"{name}{between}{value}" for name, value in call.inputs)
    came = f" → {call.output}" if call.output and call.output != "None" else ""
    notes = [words["times"].format(count=call.count)] if call.count > 1 else []
    notes += [words["parameters"].format(count=call.parameters)] if built and call.parameters else []
    return Line(name, level, (own or words["whole"]) if is_module else "", call.name, f"({inputs}){came}", " · ".join(notes))


def _open(key: str, names: list[str]) -> None:
    chosen = picked(key, names)
    if chosen is not None:
        st.query_params["call"] = chosen


def _show(call: Call) -> None:
    """Show one call: its arguments and result, its docstring, and its source."""
    words = text("calls")
    with card("call"):
        st.markdown(f"**`{call.name}`**" + (f" · `{call.path}`" if call.path else ""))
        if call.count > 1:
            st.caption(words["alike"].format(count=call.count))
        if call.parameters:
            st.caption(words["parameters_title"].format(count=call.parameters))
        passed = [*call.inputs, *([(words["returned"], call.output)] if call.output else [])]
        st.markdown(f"**{words['went_in' if call.output else 'made_with']}**")
        if passed:
            frame = pd.DataFrame(passed, columns=pd.Index([words["argument"], words["value"]]))
            st.dataframe(frame, hide_index=True, width="stretch", key="call-passed")
        else:
            st.caption(words["nothing_in"])
        st.markdown(f"**{words['explained']}**")
        sentences = explanation(call)
        if sentences:
            height = LONG_HEIGHT if len(sentences) > LONG else "content"
            st.code(sentences, language=None, wrap_lines=True, height=height)
        else:
            st.caption(words["unexplained"])
        st.markdown(f"**{words['source']}**")
        show_source(find(call.function))


def _configuration(config: TransformerConfig) -> None:
    """Show every field with its meaning, its value in this model, the usual value, and the effect of a larger value."""
    words, columns, explained = text("calls"), text("calls")["columns"], text("parameters")
    presets = {name: TransformerConfig.preset(name) for name in PRESETS}
    fields = [field.name for field in dataclasses.fields(config)]
    st.markdown(words["configuration_intro"].format(count=len(fields)))
    only = st.toggle(words["only_differing"], key="differing", bind="query-params")
    rows: list[tuple[str, ...]] = []
    for name in fields:
        value, usual = getattr(config, name), {preset: getattr(values, name) for preset, values in presets.items()}
        if not only or {value, *usual.values()} != {value}:
            field = explained[name]
            mark = words["differs"] if value != usual["vanilla"] and "usual" not in field else ""
            as_usual = field.get("usual") or _usual(usual, field.get("paper"))
            rows.append((name, f"{setting(value)}{mark}", as_usual, field["meaning"], field["grows"]))
    st.html(fields_table([columns[name] for name in ("field", "here", "usual", "meaning", "grows")], rows))


def fields_table(columns: list[str], rows: list[tuple[str, ...]]) -> Markup:
    """An HTML table of fields of a configuration, which becomes a list on a narrow screen, where five columns do not fit.
    `columns` has the headings; each row begins with the name of a field and its value."""
    nothing, cell = Markup(""), Markup("<td data-name='{}'>{}</td>")
    head = nothing.join(Markup("<th scope='col'>{}</th>").format(name) for name in columns)
    lines = []
    for field, value, *others in rows:
        first = cell.format(columns[1], Markup("<b>{}</b>").format(value))
        cells = nothing.join(cell.format(name, other) for name, other in zip(columns[2:], others, strict=True))
        lines.append(Markup("<tr><th scope='row'><code>{}</code></th>{}{}</tr>").format(field, first, cells))
    template = Markup(
        "{}<div class='fields-box'><table class='fields'><thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>"
    )
    return template.format(STYLE, head, nothing.join(lines))


def _usual(values: dict[str, object], paper: str | None) -> str:
    """The value in `vanilla`, then the values of the presets that differ from it, and the value in the paper if the texts have
    one: `512; shared_heads: 256`."""
    others = [f"{name}: {setting(value)}" for name, value in values.items() if value != values["vanilla"]]
    others += [text("calls")["paper"].format(value=paper)] if paper else []
    return "; ".join([setting(values["vanilla"]), *others])
