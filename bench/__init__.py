"""Benchmarks that print a table and write a plot."""
