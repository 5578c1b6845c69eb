"""The nouns that every room shares. Imports nothing but the standard library and NumPy."""
