"""What the other heads do if one head's output comes from the other run: which change, can replace it, or read it."""

import numpy as np
import streamlit as st

from pages.patching.heads import OfHeads, of_head, show_heads, strongest
from pages.patching.two_runs_to_patch import Choice, Runs, patched
from pages.shell.view.card_heads import pick_head
from pages.shell.view.patched_runs import head_name, is_heavy
from pages.shell.view.turns import computed
from pages.ui.caches import cached
from pages.ui.format import share
from pages.ui.pickers import pick
from pages.ui.text import text
from transformer.patching import Head, Place, changes_elsewhere, needs, path_effects
from transformer.patching.head_paths import BRANCHES

LEAST_EXTRA = 0.05  # a share of the difference; less is no sign of a backup or a partner


@cached
def _changes(runs: Runs, head: Head) -> OfHeads:
    return changes_elsewhere(runs.pair, head)


@cached
def _paths(runs: Runs, head: Head, through: str) -> OfHeads:
    return path_effects(runs.pair, head, through)


def show_others(runs: Runs) -> None:
    """Draw three maps of all heads for the picked head: how much more each other head moves the answer together with the picked
    head than the two do alone, how much each other head changes, and the picked head's effect through each other head."""
    words = text("patching")
    noised = patched(runs, Choice(direction="noise"))
    if not noised.differs():
        st.warning(words["barely_need"], icon=":material/balance:")
        return
    found = needs(patched(runs, Choice()), noised)
    head = pick_head(runs.clean.trace(), strongest(found))
    name = head_name(head)
    direction = pick(words["together"], ["noise", "denoise"], "together", words["together_options"], labels=words["directions"])
    st.subheader(words[f"together_title_{direction}"].format(head=name), anchor="together")
    st.caption(words[f"together_says_{direction}"].format(head=name))
    alone = found.lost if direction == "noise" else found.restored
    more = _together(runs, head, direction, alone)
    if not any(np.isfinite(of).any() for of in more.values()):
        st.info(words["one_head"], icon=":material/info:")
        return
    show_heads(more, words[f"together_value_{direction}"], "patch-together", words["together_alt"], picked=head)
    _say_strongest(alone, more, head, direction)
    st.subheader(words["changes_title"].format(head=name), anchor="changes")
    st.caption(words["changes_says"].format(head=name))
    changes = runs.clean.run(_changes, runs, head)
    show_heads(changes, words["changes_value"], "patch-changes", words["changes_alt"], picked=head, from_zero=True)
    st.subheader(words["path_title"].format(head=name), anchor="paths")
    through = pick(words["through"], list(BRANCHES), "through", words["through_help"])
    st.caption(words["path_says"].format(head=name, through=words["whats"][through]))
    effects = computed(text("common")["running"], _paths, runs, head, through, heavy=is_heavy(runs, Choice()))
    show_heads(effects, words["share"], "patch-paths", words["path_alt"], picked=head)


def _together(runs: Runs, head: Head, direction: str, alone: OfHeads) -> OfHeads:
    """For each head, the share of the logit difference that it and the picked head, `head`, move together, beyond the sum of
    the shares that each moves alone (`alone`). NaN for the picked head itself."""
    also = patched(runs, Choice(direction=direction, also=(Place(*head),)))
    gap = (also.ends["logit"][1] - also.ends["logit"][0]) * (-1 if direction == "noise" else 1)
    # `moved` is relative to the run in which the picked head already comes from the other run.
    more = {kind: of[..., 0] / gap - alone[kind] for kind, of in also.moved["logit"].items()}
    more[head.kind][head.layer, head.head] = np.nan
    return more


def _say_strongest(alone: OfHeads, more: OfHeads, head: Head, direction: str) -> None:
    """Write which other head moves the answer most together with the picked head, beyond the sum of what the two move alone, or
    that no head does clearly. `more` is what `_together` returned."""
    words = text("patching")
    kind = max(more, key=lambda kind: float(np.nanmax(more[kind], initial=-1)))
    layer, other = (int(index) for index in np.unravel_index(np.nanargmax(more[kind]), more[kind].shape))
    extra, partner = float(more[kind][layer, other]), Head(kind, layer, other)
    first, second = of_head(alone, head), of_head(alone, partner)
    values = {"head": head_name(head), "other": head_name(partner), "both": share(first + second + extra, 1)}
    values |= {"first": share(first, 1), "second": share(second, 1)}
    st.markdown(words[f"{'found' if extra >= LEAST_EXTRA else 'none'}_{direction}"].format(**values))
