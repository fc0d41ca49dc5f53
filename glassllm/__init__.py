"""glassllm: a small language model and autograd engine in plain NumPy, built to be looked into."""
