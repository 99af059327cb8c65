"""Rules, and the questions that they ask."""
