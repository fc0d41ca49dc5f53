"""The debugger without a screen: recording, stepping, explaining."""
