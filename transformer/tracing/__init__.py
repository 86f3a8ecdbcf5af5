"""One forward pass kept, or changed."""
