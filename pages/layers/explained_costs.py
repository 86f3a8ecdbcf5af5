"""How a clicked share or amount of a cost was computed: its terms as products of sizes, and their sum."""

from collections.abc import Mapping, Sequence

import streamlit as st

from pages.shell.view.explained_number import shortened
from pages.ui.caches import cached
from pages.ui.format import latex, share, whole
from pages.ui.tables import show_table
from pages.ui.text import figure_labels, text
from transformer.analysis.cost_terms import CostTerm, cost_terms
from transformer.network.config import TransformerConfig
from transformer.network.cost import Cost, Lengths

# What is counted, as it is written on the page.
COUNTED = ("FLOPs", "parameters", "bytes")

_terms = cached(cost_terms)


def amount_of(part: Cost, counted: str) -> int:
    """The FLOPs, parameters or bytes of a cost, as `counted` names them (one of `COUNTED`)."""
    return getattr(part, counted.lower())


def explain_share(config: TransformerConfig, lengths: Lengths, counted: str, work: str, amounts: Mapping[str, int]) -> None:
    """Draw how the share of a kind of work was computed.

    Args:
        counted: what is counted, one of `COUNTED`.
        work: the kind of work, a key of `amounts`.
        amounts: kind of work → its amount.
    """
    words, whole_amount = text("ledger")["explained"], sum(amounts.values())
    terms = _terms(config, lengths, counted.lower(), work)
    of_all = share(amounts[work] / whole_amount, 1)
    st.markdown(words["share"].format(work=figure_labels()[work], counted=counted, share=of_all, says=words[counted.lower()]))
    _show_terms(terms, counted)
    sums = shortened([_whole(term.amount) for term in terms])
    st.latex(rf"\frac{{{sums}}}{{{_whole(whole_amount)}}} = {latex(amounts[work] / whole_amount)}")


def explain_amount(
    model: tuple[TransformerConfig, Lengths], counted: str, work: str, along: str, size: int, amounts: Mapping[str, int]
) -> None:
    """Draw how the amount of a kind of work, at a size of the model or of its text, was computed.

    Args:
        model: the configuration and the lengths of that size.
        counted: what is counted, one of `COUNTED`.
        work: the kind of work, a key of `amounts`; any other name stands for all kinds together.
        along: what the size is, one of `transformer.network.cost.ALONG`.
        amounts: kind of work → its amount.
    """
    words, place = text("ledger")["explained"], {"counted": counted, "along": along, "size": whole(size)}
    if work not in amounts:
        st.markdown(words["together"].format(**place))
        columns = words["columns"]
        rows = tuple((figure_labels()[kind], whole(amount)) for kind, amount in amounts.items())
        show_table((columns["work"], counted), rows)
        st.latex(f"{shortened([_whole(amount) for amount in amounts.values()])} = {_whole(sum(amounts.values()))}")
        return
    terms = _terms(*model, counted.lower(), work)
    st.markdown(words["amount"].format(work=figure_labels()[work], says=words[counted.lower()], **place))
    _show_terms(terms, counted)
    st.latex(f"{shortened([_whole(term.amount) for term in terms])} = {_whole(amounts[work])}")


def _show_terms(terms: Sequence[CostTerm], counted: str) -> None:
    """Draw a table with a row for each term: its tensors or parameters, how often it counts, its factors and its amount."""
    columns = text("ledger")["explained"]["columns"]
    rows = tuple((", ".join(term.names), whole(term.times), _product(term), whole(term.amount)) for term in terms)
    names = columns["parameters" if counted == "parameters" else "tensors"]
    show_table((names, columns["times"], columns["each"], columns["together"]), rows)


def _product(term: CostTerm) -> str:
    """The factors of the cost of one tensor or parameter: `2 · batch 1 · source 6 · d_model 64 · d_ff 256`."""
    return " · ".join(f"{name} {whole(size)}".strip() for name, size in term.factors)


def _whole(count: int) -> str:
    """A whole number with thousands separators, as LaTeX."""
    return whole(count).replace(",", "{,}")
