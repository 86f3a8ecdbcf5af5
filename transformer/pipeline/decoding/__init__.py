"""How an answer is written, one token at a time.

    processors = (Temperature(0.7), TopK(5))
    for step in generate(model, source, sos, eos, 20, Sample(seed=7), processors):
        step.stages[0].probabilities      # the model's own distribution, [row, vocab]
        step.stages[-1].probabilities     # after the last logits processor
        step.hypotheses                   # the tokens that were chosen

The module `logits_processors` changes the distribution, `methods` chooses tokens from it, `generate` yields the steps,
`cached_edits` decides whether a key–value cache can be used, and `generation` collects all steps of one answer.
"""
