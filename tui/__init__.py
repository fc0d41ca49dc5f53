"""tui: the terminal debugger over glassllm; importing it imports neither the engine nor the screen."""
