"""Sample clips for the page and the tests, and the script that makes them."""
