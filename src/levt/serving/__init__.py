"""The HTTP server and the web editor."""
