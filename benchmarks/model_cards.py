"""Print the training cost and the accuracy of the shipped models, from their cards.

python -m benchmarks.model_cards
"""

from transformer.pipeline.catalogue import CHECKPOINTS, SUFFIX
from transformer.pipeline.checkpoint import read_card
from transformer.training.recipe import RECIPES


def table() -> str:
    """The shipped models as a Markdown table, and the groups of held-out pairs with a wrong answer; the README shows both."""
    rows = [
        "| model | task | steps | minutes | exact on held-out pairs | groups | weakest group |",
        "|---|---|---|---|---|---|---|",
    ]
    strata = []
    for name, recipe in RECIPES.items():
        card = read_card(CHECKPOINTS / f"{name}{SUFFIX}")
        # The description comes from the recipe, because a card keeps the description from the day of the training.
        exact = f"{card.accuracy:.2%} of {card.tested_on}"
        groups = sorted(card.accuracy_by_form.items(), key=lambda group: group[1])
        weakest = f"{groups[0][0]}: {groups[0][1]:.1%}" if groups[0][1] < 1 else "all 100%"
        cells = (f"`{name}`", recipe.description, card.recipe["steps"], f"{card.minutes:.1f}", exact, len(groups), weakest)
        rows.append(f"| {' | '.join(map(str, cells))} |")
        missed = [f"{group} {share:.1%}" for group, share in groups if share < 1]
        if missed and any(share for _, share in groups):  # a model that is right nowhere has no weak group
            strata.append(f"- `{name}`: {', '.join(missed)}")
    return "\n".join([*rows, "", "Groups below 100%:", "", *strata])


if __name__ == "__main__":
    print(table())
