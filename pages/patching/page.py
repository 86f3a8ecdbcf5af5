"""The Patching page: which places of the model carry the difference between two answers."""

from pages.patching.estimate import show_estimate
from pages.patching.need import show_need
from pages.patching.others import show_others
from pages.patching.pairs import show_pairs
from pages.patching.places import show_places
from pages.patching.two_runs_to_patch import is_told, runs_to_patch
from pages.shell.error_boundary import explained
from pages.shell.frame.footer import show_computed, show_next
from pages.shell.frame.parts import pick_part
from pages.shell.view.run_banner import show_run
from pages.ui.pickers import unfolding
from pages.ui.text import text
from transformer.patching import attribute_everywhere, patch_everywhere, path_effects, role

words = text("patching")
PARTS = {
    "places": show_places,
    "need": show_need,
    "pairs": show_pairs,
    "others": show_others,
    "estimate": show_estimate,
}

with explained():
    view, _ = show_run(with_answer=False)
    runs = runs_to_patch(view)
    if runs:
        show = PARTS[pick_part(words["part_label"], words["parts"], words["anchors"])]
        if is_told():
            show(runs)
        if fold := unfolding(words["may_mean"], ":material/psychology_alt:", "meaning"):
            fold.markdown(words["meaning"])
    show_computed(words["computed_text"], patch_everywhere, role, path_effects, attribute_everywhere)
    show_next(words["next_text"])
