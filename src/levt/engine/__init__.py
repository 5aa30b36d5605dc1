"""How a model is run: text in, text out, and fast. An exact engine gives the edits that `refine` defines."""
