"""Models of Hugging Face's `transformers`, opened from a folder and traced as our own.

    pipeline = open_model("folder")             # config.json, *.safetensors and the files of a tokenizer
    trace = pipeline.trace("the cat sleeps .")
    trace["encoder.layers.0.self_attention.scores"]

The main modules: `limits` has the limits; `folder` decides what may be opened; `families` lists where the tensors are in the
modules of each architecture; `attention` and `hooks` pass the tensors through taps; `network` runs the model; pages use
`vocabulary` and `pipeline`; `hf_opening` builds both from a folder. `transformer.opening` imports them when a folder is opened.
No other part needs the packages in requirements-huggingface.txt.
"""
