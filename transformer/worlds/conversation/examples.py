"""Sources worth trying. What to look for in the attention is written once a model is trained."""

from transformer.worlds.world import Example

# Held out of training, whatever its hash: the main clause of the two best-known sentences.
SIGNATURE = "the animal did not cross the street"

EXAMPLES = (
    Example(f"{SIGNATURE} because it was too tired", "`it` is the animal, so the pronoun is `il`."),
    Example(f"{SIGNATURE} because it was too wide", "One adjective has changed: `it` is the street, so the pronoun is `elle`."),
    Example("hello world", "Two words become three: `le` has no word of its own in the source."),
    Example("my name is anna", "`name` becomes the verb `appelle`; `anna` is copied."),
    Example("where is the cat ?", "`le` comes from `the`, but its gender from the word after it, `cat`."),
    Example("my sister is taller than my brother .", "`plus grande` is one English word; its last letter comes from `sister`."),
    Example("i do not like coffee", "`ne` and `pas` stand around the verb: one `not` is read for two words."),
    Example(
        "she has a beautiful red car",
        "`beautiful` stays before its noun and `red` moves behind it, so the diagonal breaks at `car`.",
    ),
    Example("we went to the beach yesterday", "`sommes allés` is one English word, and agrees with `we`."),
)

STATIC_EXAMPLES = (
    Example(EXAMPLES[0].source, "The pronoun is right; change `tired` to `wide` and look for a head that turns."),
    Example(EXAMPLES[1].source, "The pronoun has changed, and yet no head has turned from `animal` to `street`."),
)
