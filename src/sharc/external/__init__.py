"""Results that were not computed here: their CSV file, and importers for other libraries' logs."""
