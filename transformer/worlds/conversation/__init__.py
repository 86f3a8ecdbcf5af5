"""A beginner's English with its French: a grammar that draws sentences, reads them, and says which words fit next.

Read from the bottom up. `inflection` and `sound` are the rules of single words, `data/` holds the words, and `lexicon` reads
them. `path` is what makes one grammar do three things: a frame is a function that goes along a path through a sentence, says
its English words from left to right, and returns the French; the path either draws the choices or reads them off a text.
`nominal`, `place_and_time` and `verbal` are the parts of sentences, `frames` the kinds of sentences, and
`transformer.worlds.english_french` makes worlds of the grammar.
"""
