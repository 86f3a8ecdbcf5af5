"""The examples of the English–French worlds, each with what to look for in it."""

from transformer.worlds.world import Example

# Held out of training, whatever its hash: the main clause of the two best-known sentences.
SIGNATURE = "the animal did not cross the street"

EXAMPLES = (
    Example(
        f"{SIGNATURE} because it was too tired",
        "The row of `qu'` predicts the word after it, `il`: there cross-attention, layer 1 head 2, looks at `animal`. Does the "
        "pronoun hang on it? Silence it and see.",
    ),
    Example(
        f"{SIGNATURE} because it was too wide",
        "One adjective has changed: in the row of `qu'`, which predicts `elle`, the same head now looks at `street`.",
    ),
    Example(
        f"{SIGNATURE} because it was too tired . what was tired ?",
        "After the translation the antecedent is named: compare the row of `qu'`, which predicts `il`, with that of the last "
        "`l'`, which predicts `animal`.",
    ),
    Example("i see it .", "The pronoun moves before the verb: `it` is read before `see`, so the two rows cross."),
    Example("the cat does not sleep .", "`ne` and `pas` stand around the verb: one `not` is read for two words."),
    Example(
        "i see a beautiful old man .",
        "`vieil`, not `vieux`, because a vowel follows: the row that predicts it, that of `beau`, looks ahead at `man`.",
    ),
    Example(
        "the house that i saw was old .",
        "`vue` and `vieille` agree with `house`, yet the rows that predict them, `ai` and `était`, do not look at it: find the "
        "head of decoder self-attention that looks back at `la`.",
    ),
    Example(
        "my aunt speaks to the king near the park .",
        "`au` and `du` are two words in one: in the rows that predict them, `parle` and `près`, find `to` and `near the`.",
    ),
    Example(
        "she left",
        "`partie` takes its verb from `left` and its last letter from `she`: see if the row of `est` looks at both.",
    ),
    Example(
        "the pretty red car isn't fast .",
        "`pretty` stays before its noun and `red` moves behind it, so the diagonal breaks at `car`.",
    ),
)

STATIC_EXAMPLES = (
    Example(EXAMPLES[0].source, "The pronoun is right; change `tired` to `wide` and look for a head that turns."),
    Example(EXAMPLES[1].source, "The pronoun has changed, and yet no head has turned from `animal` to `street`."),
    *EXAMPLES[3:],
)
