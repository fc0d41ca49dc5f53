"""Automatic differentiation in reverse mode: Tensors, their functions, and one traversal back."""
