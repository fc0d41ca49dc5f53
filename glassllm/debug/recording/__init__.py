"""Recordings: a session's tape in one .npz, opened elsewhere without the model, and stepped through as before."""
