"""Record the tensors of a forward pass (a trace), or change them during the pass (interventions, also called edits)."""
