"""How an answer is written, one token at a time.

    for step in generate(model, source, sos, eos, limit, Sample(seed=7), controls=(Temperature(0.7), TopK(5))):
        step.stages[0].probabilities      # the model's own distribution, [row, vocab]
        step.stages[-1].probabilities     # after the last logits processor
        step.hypotheses                   # the tokens that were chosen

`logits_processors` change the distribution, `methods` choose from it, `generate` yields the steps, `tree` has the hypotheses of beam
search, `answers` has the greedy answers of a batch.
"""
