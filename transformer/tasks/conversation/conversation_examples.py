"""Source sentences to try, each with a sentence about what to look for in the attention."""

from transformer.tasks.task import Example

# The main clause of the two best-known sentences. It is always held out of training, whatever its hash is.
SIGNATURE = "the animal did not cross the street"

EXAMPLES = (
    Example(
        f"{SIGNATURE} because it was too tired",
        "The row of `qu'` predicts `il`: there cross-attention, layer 1 head 2, looks at `animal`.",
    ),
    Example(
        f"{SIGNATURE} because it was too wide",
        "One adjective has changed: in the row of `qu'` the same head now looks at `street`, and `elle` is predicted.",
    ),
    Example("hello world", "Two words become three: `le` has no word of its own in the source; its row looks at `world`."),
    Example(
        "my name is anna",
        "`name` is read for the verb `appelle`; the row that predicts `anna` looks at `anna`, which is copied.",
    ),
    Example("where is the cat ?", "`le` agrees with a noun that comes after it: one head looks at `the`, another at `cat`."),
    Example(
        "my sister is taller than my brother .",
        "`plus grande` is one English word, `taller`; the last letter comes from `sister`: silence heads to find out where.",
    ),
    Example("i do not like coffee", "`ne` and `pas` stand around the verb: one `not` is read for two words."),
    Example(
        "she has a beautiful red car",
        "`beautiful` stays before its noun and `red` moves behind it, so the diagonal breaks at `car`.",
    ),
    Example("i see it .", "The pronoun moves before the verb: `it` is read before `see`, so the two rows cross."),
    Example("we went to the beach yesterday", "`sommes allés` is one English word, `went`, and agrees with `we`."),
)

STATIC_EXAMPLES = (
    Example(EXAMPLES[0].source, "The pronoun is right; change `tired` to `wide` and look for a head that turns."),
    Example(EXAMPLES[1].source, "The pronoun has changed, and yet no head has turned from `animal` to `street`."),
    Example(
        "the monkey did not avoid the bank because it was expensive",
        "`it` is the bank, so it is `elle` and `chère`: see which tokens the row of `qu'` looks at.",
    ),
    Example(
        "the monkey did not avoid the bank because it was lazy",
        "Now `it` is the monkey, so it is `il`: silence one head after the other, and find the one that costs the pronoun.",
    ),
    Example(
        "the goat did not cross the bridge because it was thirsty",
        "In French one *has* thirst: `avait` and `soif` are both read from `thirsty`.",
    ),
    Example(
        "the lion did not cross the airport .",
        "`le` loses its `e` before a vowel: the row that predicts `l'` looks ahead at `airport`.",
    ),
)
