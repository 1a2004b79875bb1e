"""From run records to tidy rows, statistics and verdicts: plain values, no markup."""
