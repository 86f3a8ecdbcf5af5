"""English sentences for beginners and their French translations: a grammar that samples sentences, parses them, and lists words
that may follow the beginning of a sentence.

The modules build on one another. `inflection` and `sound` have the rules for single words, `data/` has the words, and `lexicon`
reads the words. With `path`, the same functions sample sentences, parse them, and list words: a frame is a function that gets a
path, passes it the English words of a sentence from left to right, and returns the French words. The path either samples each
choice or takes it from a text. `nominal`, `place_and_time` and `verbal` have the parts of sentences, and `frames` has the kinds
of sentences. `transformer.tasks.english_french` makes tasks from the grammar.
"""
