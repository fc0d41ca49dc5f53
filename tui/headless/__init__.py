"""Training and generating from the shell, without a screen."""
