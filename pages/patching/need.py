"""Needed against enough: a dot for each head, by what the answer loses without the head and what the head alone restores."""

import math
from collections.abc import Sequence

import streamlit as st

from pages.patching.heads import of_head, strongest
from pages.patching.two_runs_to_patch import Choice, Runs, patched
from pages.shell.view.card_heads import choose_head, pick_head
from pages.shell.view.patched_runs import head_name
from pages.ui.chart import event
from pages.ui.charts import chart, show
from pages.ui.component import is_index
from pages.ui.format import fixed, share
from pages.ui.pickers import pick
from pages.ui.text import text
from transformer.figures.patching_charts import Dot, need_map
from transformer.patching import Head, Needs, needs, ranks_agree
from transformer.patching.averages import Interval
from transformer.patching.need import HALF, ROLES
from transformer.patching.places import OF_HEADS

# Below this rank correlation, two measures do not agree about which heads matter.
AGREE = 0.8
# A head has no name beside its dot if both its shares are nearer to 0 than NAMED, or if its dot is within APART of a dot with a
# name.
NAMED, APART = 0.2, (0.14, 0.06)
# A share this close to the line between two roles says little about the role.
NEAR = 0.1


def show_need(runs: Runs) -> None:
    """Draw a dot for each head, by what the answer loses without it and what it alone restores, and the picked head's role."""
    words = text("patching")
    what = pick(words["what"], list(OF_HEADS), "what", words["what_help"], as_list=True)
    st.caption(f"{words['what_says'][what]} {words['need_says']}")
    denoised, noised = (patched(runs, Choice(what, direction)) for direction in ("denoise", "noise"))
    if not denoised.differs():
        st.warning(words["barely_need"], icon=":material/balance:")
        return
    found = needs(denoised, noised)
    above = st.container()
    head = pick_head(runs.clean.trace(), strongest(found))
    with above:
        show_dots(found, head, "need-map")
    _say_head(found, head)
    if denoised.differs("probability"):
        say_agreement(found, needs(denoised, noised, "probability"))


def show_dots(found: Needs, picked: Head, key: str, intervals: tuple[Interval, Interval] | None = None) -> None:
    """Draw a dot for each head at its lost and its restored share, and below them the names of the heads of each role. A click
    on a dot picks its head. `intervals` are those of the lost and of the restored shares; None for a single pair of texts."""
    words, heads = text("patching"), list(found.roles)
    dots = _named([_dot(found, head, intervals) for head in heads], heads.index(picked) if picked in heads else None)
    axes = (words["lost"], words["restored"])
    titles, roles = text("attention")["kinds"], words["roles"]
    figure = chart(need_map, dots, titles, roles, HALF, axes, heads.index(picked) if picked in heads else None)
    show(figure, key, words["need_alt"], asks={"click": lambda: _take_dot(key, heads)})
    unclear = {head for head in heads if is_unclear(found, head, intervals)}
    for role in ROLES:
        of_role = [head_name(head) + "?" * (head in unclear) for head, its in found.roles.items() if its == role]
        if of_role and role != "bystander":
            st.markdown(words["of_role"].format(role=roles[role], says=words["role_says"][role], heads=", ".join(of_role)))
    left = sum(role == "bystander" for role in found.roles.values())
    says = words["role_says"]["bystander"]
    st.markdown(words["bystanders"].format(role=roles["bystander"], says=says, count=left, total=len(heads)))
    if left == len(heads):
        st.info(words["spread"], icon=":material/scatter_plot:")
    if unclear:
        names = ", ".join(head_name(head) for head in heads if head in unclear)
        st.caption(words["unclear_interval" if intervals else "unclear"].format(heads=names))


def is_unclear(found: Needs, head: Head, intervals: tuple[Interval, Interval] | None) -> bool:
    """Whether the role of a head is not certain: an interval crosses the line between two roles, or without intervals, a share
    is close to this line."""
    if intervals:
        return any(of_head(of.low, head) < HALF < of_head(of.high, head) for of in intervals)
    return any(abs(of_head(of, head) - HALF) < NEAR for of in (found.lost, found.restored))


def _dot(found: Needs, head: Head, intervals: tuple[Interval, Interval] | None) -> Dot:
    ranges = [(of_head(of.low, head), of_head(of.high, head)) for of in intervals] if intervals else (None, None)
    return Dot(head.kind, head_name(head), of_head(found.lost, head), of_head(found.restored, head), ranges[0], ranges[1])


def _named(dots: Sequence[Dot], picked: int | None) -> list[Dot]:
    """The dots, with names beside the dot at index `picked` and the dots that matter, unless two names would overlap."""
    order = sorted(range(len(dots)), key=lambda index: (index != picked, -max(dots[index].lost, dots[index].restored)))
    named: list[int] = []
    for index in order:
        dot = dots[index]
        matters = index == picked or max(abs(dot.lost), abs(dot.restored)) >= NAMED
        near = any(
            abs(dot.lost - dots[other].lost) < APART[0] and abs(dot.restored - dots[other].restored) < APART[1]
            for other in named
        )
        if matters and not near:
            named.append(index)
    return [dot._replace(written=index in named) for index, dot in enumerate(dots)]


def _say_head(found: Needs, head: Head) -> None:
    words, role = text("patching"), found.roles[head]
    values = {"head": head_name(head), "role": words["roles"][role], "says": words["role_says"][role]}
    values |= {"lost": share(of_head(found.lost, head), 1), "restored": share(of_head(found.restored, head), 1)}
    st.info(words["head_is"].format(**values), icon=":material/adjust:")


def say_agreement(by_logit: Needs, by_probability: Needs) -> None:
    """Write whether the logit difference and the probability rank the heads alike; as a warning if they do not. Write nothing
    if a rank correlation is undefined."""
    words = text("patching")
    lost = ranks_agree(by_logit.lost, by_probability.lost)
    restored = ranks_agree(by_logit.restored, by_probability.restored)
    if math.isnan(lost) or math.isnan(restored):
        return
    values = {"lost": fixed(lost, 2), "restored": fixed(restored, 2)}
    if min(lost, restored) < AGREE:
        st.warning(words["ranks_differ"].format(**values), icon=":material/swap_vert:")
    else:
        st.caption(words["ranks_agree"].format(**values))


def _take_dot(key: str, heads: Sequence[Head]) -> None:
    """Pick the head whose dot was clicked."""
    data = event(key, "click").get("data")
    index = data[0] if isinstance(data, list) and data else None
    if is_index(index, len(heads)):
        choose_head(heads[index])
