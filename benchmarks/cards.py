"""Print the training cost and the accuracy of the shipped models, from their cards.

python -m benchmarks.cards
"""

from transformer.pipeline.checkpoint import read_card
from transformer.pipeline.pipeline import CHECKPOINTS, SUFFIX
from transformer.training.recipe import RECIPES


def table() -> str:
    """The shipped models as a Markdown table; the README shows it."""
    rows = ["| model | task | steps | minutes | exact on held-out pairs |", "|---|---|---|---|---|"]
    for name, recipe in RECIPES.items():
        card = read_card(CHECKPOINTS / f"{name}{SUFFIX}")
        # The description comes from the recipe; the card keeps the one from its training day.
        exact = f"{card.accuracy:.2%} of {card.tested_on}"
        rows.append(f"| `{name}` | {recipe.description} | {card.recipe['steps']} | {card.minutes:.1f} | {exact} |")
    return "\n".join(rows)


if __name__ == "__main__":
    print(table())
