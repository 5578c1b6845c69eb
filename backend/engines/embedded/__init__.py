"""Small CPU models that pip installs: no download, no GPU."""
