"""Models of Hugging Face's `transformers`, opened from a folder and traced like our own models.

    pipeline = open_model("folder")             # config.json, *.safetensors and the files of a tokenizer
    trace = pipeline.trace("the cat sleeps .")
    trace["encoder.layers.0.self_attention.scores"]

The main modules: `hf_limits` has the limits; `folder` decides what may be opened; `families` lists where the tensors are in the
modules of each architecture; `hf_attention` and `hooks` pass the tensors through taps; `hf_network` runs the model; pages use
`hf_vocabulary` and `hf_pipeline`; `hf_opening` builds a pipeline from a folder. `transformer.opening` imports these modules
when a folder is opened. No other part needs the packages in requirements-huggingface.txt.
"""
