"""Widgets draw the snapshots they are handed and nothing else."""
