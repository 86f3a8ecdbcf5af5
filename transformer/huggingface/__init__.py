"""Models of Hugging Face's `transformers`, opened from a folder and traced as our own.

    pipeline = Pipeline.open("folder")          # config.json, *.safetensors and the files of a tokenizer
    trace = pipeline.trace("the cat sleeps .")
    trace["encoder.layers.0.self_attention.scores"]

In the order they build on each other: `limits`; `folder` decides what may be opened; `families` says where the tensors are in
the modules of each architecture; `attention` and `hooks` hand them to the taps; `network` runs the model; `vocabulary` and
`pipeline` are what a page sees; `opening` builds them from a folder. Nothing here is imported before `Pipeline.open` is called,
and the packages in requirements-huggingface.txt are needed by no other part.
"""
