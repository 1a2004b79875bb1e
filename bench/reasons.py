"""Where the time goes in what missed its target, as its profile showed; by measure."""

REASONS: dict[str, str] = {}
