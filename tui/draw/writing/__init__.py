"""Pictures of a text being written: the text, what may follow, who looks at what, what each layer would say."""
