"""`sharc inspect`: what an artifact holds, as tables."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from sharc.artifacts.digests import digest
from sharc.artifacts.files import read_json
from sharc.artifacts.provenance import FOLDER
from sharc.errors import UserError

console = Console()
_SHOWN = ("commit", "dirty", "suite", "wall_seconds", "cpu_seconds", "peak_memory_mb", "device")


def inspect_artifact(path: Path, picture: Path | None = None) -> None:
    """Print what `path` holds; for a run with SHARC, optionally draw recalled maps."""
    path = _below_project(path)
    if not path.exists():
        raise UserError(f"{path} does not exist. `sharc grid` lists what is built and what is not.")
    _reader_of(path)(path)
    _show_provenance(path)
    if picture is not None:
        from sharc.cli.picture import draw_recalled_maps

        draw_recalled_maps(path, picture)
        console.print(f"Recalled maps and their originals: {picture}")


def _below_project(path: Path) -> Path:
    try:
        return path.resolve().relative_to(Path.cwd())
    except ValueError:
        raise UserError(
            f"{path} is outside the project. Run `sharc inspect` in the project's root folder."
        ) from None


def _reader_of(path: Path) -> Callable[[Path], None]:
    if path.is_file() and path.suffix == ".json":
        content = read_json(path)
        if isinstance(content, dict) and "accuracy" in content:
            return _show_run
        if isinstance(content, dict) and "tasks" in content:
            return _show_split
    if path.is_dir() and path.is_relative_to("outputs/features"):
        return _show_features
    return _show_files


def _show_run(path: Path) -> None:
    from sharc.metrics import acc, backward_transfer

    run = read_json(path)
    console.print(
        f"[bold]{run['method']}[/] {run['variant']} on {run['dataset']}, buffer {run['buffer']}, "
        f"seed {run['seed']}: {run['status']}{' - ' + run['message'] if run['message'] else ''}"
    )
    for scenario, rows in run["accuracy"].items():
        table = Table(
            title=f"{scenario}: accuracy (%) on task i after task t", title_justify="left"
        )
        table.add_column("t \\ i")
        for i in range(run["tasks"]):
            table.add_column(str(i + 1), justify="right")
        for t, row in enumerate(rows):
            table.add_row(str(t + 1), *("" if x is None else f"{x:.1f}" for x in row))
        console.print(table)
        matrix = _matrix(rows)
        bwt = backward_transfer(matrix) if run["method"] != "joint" else None
        shown = "n/a" if bwt is None else f"{bwt:.2f}"
        console.print(f"ACC {acc(matrix):.2f}   BWT {shown}")
    _show_ledger(run["ledger"])
    _show_recall(run["recall"])


def _matrix(rows: list[list[float | None]]) -> Any:
    import numpy as np

    return np.array([[np.nan if x is None else x for x in row] for row in rows])


def _show_ledger(ledger: dict[str, Any]) -> None:
    if not ledger.get("parts"):
        return
    table = Table("held in memory", "numbers", "bytes", title="Ledger", title_justify="left")
    for name, part in ledger["parts"].items():
        table.add_row(name, f"{part['floats']:,}", f"{part['bytes']:,}")
    table.add_row("total", "", f"{ledger['total_bytes']:,}", style="bold")
    console.print(table)
    console.print(
        f"{ledger['items']} examples; the paper counts {ledger['counted_floats']:,} numbers"
    )


def _show_recall(recall: list[dict[str, Any]]) -> None:
    last = [row for row in recall if row["after"] == max(r["after"] for r in recall)]
    if not last:
        return
    names = ("task", "age", "items", "mse", "zero_fill_mse", "mean_fill_mse", "accuracy")
    table = Table(*names, title="Recall at the start of the last task", title_justify="left")
    for row in last:
        table.add_row(*(_short(row.get(name)) for name in names))
    console.print(table)


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _show_split(path: Path) -> None:
    split = read_json(path)
    table = Table("task", "classes", "train", "validation", "test")
    for number, task in enumerate(split["tasks"], start=1):
        counts = (len(task[part]) for part in ("train", "validation", "test"))
        table.add_row(str(number), ", ".join(map(str, task["classes"])), *map(str, counts))
    console.print(table)


def _show_features(path: Path) -> None:
    from sharc.features.cache import FeatureCache

    found = [path / "receipt.json", *path.rglob("receipt.json")]
    finished = [receipt.parent for receipt in found if receipt.is_file()]
    if not finished:
        command = "snakemake --cores 2 all --until features"
        raise UserError(f"{path} holds no finished features: build them with `{command}`.")
    _show_facts(FeatureCache(finished[0]).describe())


def _show_facts(facts: dict[str, Any]) -> None:
    table = Table(show_header=False)
    for name, value in facts.items():
        table.add_row(str(name), str(value))
    console.print(table)


def _show_files(path: Path) -> None:
    files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
    meta = path / "meta.json"
    if meta.is_file():
        _show_facts(read_json(meta))
    table = Table("file", "bytes", "sha256")
    for file in files[:40]:
        table.add_row(str(file), f"{file.stat().st_size:,}", digest(file)[:16])
    console.print(table)
    if len(files) > 40:
        console.print(f"... and {len(files) - 40} more files")


def _show_provenance(path: Path) -> None:
    for record_path in sorted(FOLDER.rglob("*.json")):
        record = read_json(record_path)
        owned = [name for name in record["outputs"] if Path(name).is_relative_to(path)]
        if owned:
            console.print(
                f"\n[bold]{record['job']}[/] "
                + ", ".join(f"{name} {record[name]}" for name in _SHOWN if name in record)
            )
            console.print(f"key {record['key'][:16]}, {len(owned)} of its files are shown here")
