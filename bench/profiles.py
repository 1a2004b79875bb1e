"""Where a training run spends its time, by torch's profiler."""

from torch.profiler import ProfilerActivity, profile

from bench.timing import Way

GROUPS = {
    "matrix products": ("bmm", "baddbmm", "baddbmm_", "addmm", "mm"),
    "gathering rows": ("index_select", "index", "gather", "cat", "stack"),
}


def where(train: Way) -> str:
    """Shares of the time of torch's operators, and how long a call of the others takes."""
    with profile(activities=[ProfilerActivity.CPU]) as seen:
        train()
    calls = [call for call in seen.key_averages() if call.key.startswith("aten::")]
    whole = sum(call.self_cpu_time_total for call in calls)
    said, rest = [], list(calls)
    for name, keys in GROUPS.items():
        group = [call for call in rest if call.key.removeprefix("aten::") in keys]
        rest = [call for call in rest if call not in group]
        said.append(f"{sum(call.self_cpu_time_total for call in group) / whole:.0%} {name}")
    left = sum(call.self_cpu_time_total for call in rest)
    each = left / max(1, sum(call.count for call in rest))
    return f"{', '.join(said)}, {left / whole:.0%} other calls of {each:.1f} µs each"
