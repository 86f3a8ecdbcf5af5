"""Models of Hugging Face's `transformers`, opened from a folder and traced like Headlight's own models.

    pipeline = open_model("folder")             # config.json, *.safetensors and the files of a tokenizer
    trace = pipeline.trace("the cat sleeps .")
    trace["encoder.layers.0.self_attention.scores"]

The main modules: `hf_limits` has the limits; `folder` checks a folder and reads its model; `families` lists where the tensors
are in the modules of each architecture; `hf_attention` and `hooks` pass the tensors through taps, the named points at which a
tensor is recorded or changed; `hf_network` runs the model; the app uses `hf_vocabulary` and `hf_pipeline`; `hf_opening` builds
a pipeline from a folder. `transformer.opening` imports these modules when a folder is opened. No other part needs the packages
in requirements-huggingface.txt.
"""
