"""From factors to runs: the parameters under each specification and the arms that it compares.

A specification has up to four arms, the same in all else: the method without SHARC, with it, with
random channels instead of salient ones, and with zeros instead of what was recalled.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from sharc.config import Params
from sharc.config.specifications import SpecificationsBlock
from sharc.errors import UserError, unknown
from sharc.grid import Cell, Variant
from sharc.specifications.arms import PLAIN, RANDOM, SALIENCY, SHARC, ZEROS
from sharc.specifications.design import Design, design
from sharc.specifications.factors import Factor, Specification, Value, settings

AXES = ("dataset", "backbone", "method", "buffer", "theta")  # of the grid; all else is a parameter
SELECTED = "selected"
SELECTABLE = {"theta": "theta", "train.learning_rate": "learning_rate"}  # key -> name in `select`


@dataclass(frozen=True)
class Arm:
    """One cell of a specification: what is trained, under which parameters, what it chooses."""

    name: str
    cell: Cell
    params: Params
    selects: tuple[str, ...]  # names in `select` whose value each run chooses


@dataclass(frozen=True)
class Plan:
    """Every specification and what became of it."""

    factors: list[Factor]
    design: Design
    arms: Mapping[str, list[Arm]]  # by the specification's id


def plan(params: Params) -> Plan:
    """Of the chosen suite, every value of every factor checked first."""
    block = params.chosen.specifications
    if block is None:
        raise UserError(f"suites.{params.suite} has no block `specifications`.")
    factors = factors_of(block)
    for factor in factors:
        _check(params, factor, f"suites.{params.suite}.specifications.factors")

    def objection(specification: Specification) -> str | None:
        return _excluded(block, specification) or _illegal(params, specification, factors)

    _check_excluded(block, {factor.name: factor for factor in factors})
    found = design(factors, block.sample, block.seed, objection)
    made = {spec.id: arms(params, spec, factors) for spec in found.all}
    return Plan(factors, found, made)


def factors_of(block: SpecificationsBlock) -> list[Factor]:
    """In the order of the file."""
    return [
        Factor(name, given.key, tuple(given.values), given.why, given.alone)
        for name, given in block.factors.items()
    ]


def arms(params: Params, spec: Specification, factors: Sequence[Factor]) -> list[Arm]:
    """The cells that a specification compares; a control that is its own choice has no arm."""
    wanted = settings(spec, factors)
    under = params_under(params, wanted)
    theta = None if wanted.get("theta") == SELECTED else under.sharc.theta.class_il
    selects = tuple(name for key, name in SELECTABLE.items() if wanted.get(key) == SELECTED)
    suite = under.chosen

    def arm(name: str, memory: str | None, given: Params) -> Arm:
        variant = Variant(memory, under.sharc.theta.class_il if memory else None)
        cell = Cell(suite.datasets[0], suite.backbone, suite.methods[0], variant, suite.buffers[0])
        chosen = tuple(s for s in selects if memory or s != "theta")
        return Arm(name, cell, given, chosen)

    found = [arm(PLAIN, None, under), arm(SHARC, under.sharc.memory, under)]
    asked = params.chosen.specifications.questions if params.chosen.specifications else ()
    if "saliency" in asked and under.switches.saliency != "random" and theta != 0:
        random = params_under(params, wanted | {SALIENCY: "random"})
        found.append(arm(RANDOM, under.sharc.memory, random))
    if "recall" in asked and under.sharc.memory != "none" and theta != 0:
        found.append(arm(ZEROS, "none", under))
    return found


def params_under(params: Params, wanted: Mapping[str, Value]) -> Params:
    """The parameters with some of them set; what the model refuses is a UserError."""
    tree, known = _tree(params), list(_leaves(params.model_dump(exclude={"suites"})))
    suite = tree["suites"][params.suite]
    for key, value in wanted.items():
        if value == SELECTED and key in SELECTABLE:
            continue
        if key == "theta":
            tree["sharc"]["theta"] = {"task_il": value, "class_il": value}
        elif key == "backbone":
            suite[key] = value
        elif key in AXES:
            suite[f"{key}s"] = [value]
        else:
            _set(tree, known, key, value)
    try:
        return Params.model_validate(tree)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        message = str(first["msg"]).removeprefix("Value error, ")
        raise UserError(f"{where}: {message} (got {first['input']!r})") from None


def _tree(params: Params) -> dict[str, Any]:
    """What params.yaml says, as plain values, without the suites that are not built."""
    tree = params.model_dump(exclude={"suites"}, exclude_unset=True)
    left_out = {"specifications", "select", "memories", "thetas", "ladder"}
    suite = params.chosen.model_dump(exclude=left_out, exclude_unset=True)
    return tree | {"suites": {params.suite: suite}}


def _set(tree: dict[str, Any], known: Iterable[str], dotted: str, value: Value) -> None:
    """Put a value at a dotted key; a key left at its default is not in the tree yet."""
    if dotted not in known:
        raise UserError(unknown("parameter", dotted, [*AXES, *known]))
    *parents, last = dotted.split(".")
    block = tree
    for name in parents:
        block = block.setdefault(name, {})
    block[last] = value


def _leaves(tree: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    for key, value in tree.items():
        if key == "resources":
            continue
        if isinstance(value, dict):
            yield from _leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}"


def _check(params: Params, factor: Factor, where: str) -> None:
    """Each value by itself, all else as params.yaml has it: a mistake, not a combination."""
    for value in factor.values:
        if value == SELECTED and factor.key in SELECTABLE:
            _check_select(params, factor, where)
            continue
        try:
            params_under(params, {factor.key: value})
        except UserError as error:
            raise UserError(f"{where}.{factor.name}: value {value!r}: {error}") from None


def _check_select(params: Params, factor: Factor, where: str) -> None:
    """`selected` needs something to choose from and images to choose on."""
    name = SELECTABLE[factor.key]
    if not getattr(params.chosen.select, name, None):
        raise UserError(
            f"{where}.{factor.name}: selected needs values: list them under "
            f"suites.{params.suite}.select.{name}."
        )


def _check_excluded(block: SpecificationsBlock, known: Mapping[str, Factor]) -> None:
    for excluded in block.excluded:
        for name, values in excluded.when.items():
            if name not in known:
                raise UserError(f"specifications.excluded: {unknown('factor', name, known)}")
            legal = known[name].values
            if strange := [value for value in values if value not in legal]:
                mistake = unknown("value", strange[0], map(str, legal))
                raise UserError(f"specifications.excluded: {name}: {mistake}")


def _excluded(block: SpecificationsBlock, spec: Specification) -> str | None:
    for excluded in block.excluded:
        if all(spec.choices[name] in values for name, values in excluded.when.items()):
            return excluded.why
    return None


def _illegal(params: Params, spec: Specification, factors: Sequence[Factor]) -> str | None:
    try:
        params_under(params, settings(spec, factors))
    except UserError as error:
        return str(error)
    return None
