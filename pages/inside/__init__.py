"""What happens inside the model."""
