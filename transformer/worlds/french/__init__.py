"""A small grammar of English and French, read from the bottom up.

`sound` and `inflection` are the rules of single words; `nouns`, `adjectives`, `verbs` and `function_words` the words
themselves. A sentence is a `tree`, the same for both languages: `to_english` and `to_french` write it out, `parse`
reads English back into it, and `plain` and `reference` invent new ones from the parts in `draw`. `antecedent` says
what a pronoun refers to, and `words` collects every form that can be written.
"""
