"""One function per experiment, returning its whole configuration."""
