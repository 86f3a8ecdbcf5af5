"""Record the tensors of a forward pass, or change them."""
