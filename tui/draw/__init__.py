"""Pictures as pure functions: arrays and frozen values in, rows of styled text out. No widget, no engine."""
