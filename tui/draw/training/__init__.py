"""Pictures of a run of training: its curves, how far each group of parameters moves, its settings."""
