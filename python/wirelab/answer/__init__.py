"""Answers to a person's question, with what causes them."""
