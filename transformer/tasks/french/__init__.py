"""A small grammar of English and French, read from the bottom up.

`sound` and `inflection` are the rules of single words; `nouns`, `adjectives`, `verbs` and `function_words` the words
themselves. A sentence is a `tree`, the same for both languages; `to_english` and `to_french` write it out, `parse` reads
English back into it, and `draw` and `reference` invent new ones. `words` collects every form that can be written.
"""
