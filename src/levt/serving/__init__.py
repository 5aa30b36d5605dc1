"""The HTTP server, its client, and the web editor. Knows no training, and no network: an engine answers."""
