"""The editor in a real browser. A package, so that the browser is gone when its tests are."""
