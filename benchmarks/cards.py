"""What the shipped models took and how good they are, from their cards.

python -m benchmarks.cards
"""

from transformer.pipeline.checkpoint import read_card
from transformer.pipeline.pipeline import CHECKPOINTS, SUFFIX


def main() -> None:
    print("| model | task | steps | minutes | exact on held-out pairs |")
    print("|---|---|---|---|---|")
    for path in sorted(CHECKPOINTS.glob(f"*{SUFFIX}")):
        card = read_card(path)
        exact = f"{card.accuracy:.2%} of {card.tested_on}"
        print(f"| `{path.stem}` | {card.description} | {card.recipe['steps']} | {card.minutes:.1f} | {exact} |")


if __name__ == "__main__":
    main()
