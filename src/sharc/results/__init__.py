"""From run records to statistics, tables, verdicts and claims: plain values, no plots."""
