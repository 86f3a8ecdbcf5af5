"""What a configuration costs, in closed form."""

from transformer.config import TransformerConfig


def parameters(config: TransformerConfig) -> int:
    """Trainable numbers of the model: `sum(p.numel() for p in Transformer(config).parameters())`, without building it."""
    d_model, width = config.d_model, config.d_model if config.head_projection == "per_head" else config.d_head
    projections = 3 * (width**2 + width * config.projection_bias) + d_model**2 + d_model * config.output_bias
    feed_forward = 2 * d_model * config.d_ff + config.d_ff + d_model
    norm = 2 * d_model
    encoder = config.encoder_layers * (projections + feed_forward + 2 * norm)
    decoder = config.decoder_layers * (2 * projections + feed_forward + 3 * norm)
    tables = (config.source_vocab + config.target_vocab + 2 * config.max_len * (config.position == "learned")) * d_model
    output = config.target_vocab * (d_model + 1)
    return encoder + decoder + 2 * norm * config.final_norm + tables + output
