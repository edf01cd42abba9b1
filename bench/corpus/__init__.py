"""The cost of indexes of collections: reading, updating, grouping, Ray."""
