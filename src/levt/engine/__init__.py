"""How a model is run: text in, text out, and fast. Gives the same edits that `refine` defines."""
