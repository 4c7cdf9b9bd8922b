"""The paper's experiments again: its set-ups, its claims beside what was measured, and why the two may differ."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from modelpicker.experiments.comparison import carry_out
from modelpicker.experiments.engines import Workforce
from modelpicker.experiments.labels_needed import Factor, Outcomes, factor, labels_needed
from modelpicker.experiments.plan import BUDGET_RULES, ComparisonPlan
from modelpicker.experiments.results import Results
from modelpicker.experiments.setups import Claim, Setup
from modelpicker.experiments.tuning import Tuned

OURS = "model-picker"
STRUCTURAL = "structural-committee"


@dataclass(frozen=True)
class ClaimVerdict:
    """A claim of the paper, what was measured, and what explains a difference."""

    claim: str
    where: str
    paper: str
    measured: str
    explanation: str
    factors: Mapping[str, Factor]
    """For a claim on labels: the factor by the chosen budget rule, and counted in other ways."""

    def document(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return {
            "claim": self.claim,
            "where": self.where,
            "paper": self.paper,
            "measured": self.measured,
            "explanation": self.explanation,
            "factors": {name: found.document() for name, found in self.factors.items()},
        }


@dataclass(frozen=True)
class Reproduction:
    """One set-up, carried out under both budget rules."""

    setup: Setup
    results: Results
    """Under the budget rule that was chosen."""
    by_rule: Mapping[str, Results]
    verdicts: tuple[ClaimVerdict, ...]

    def document(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return {
            "setup": self.setup.name,
            **self.results.document(),
            "claims": [verdict.document() for verdict in self.verdicts],
        }


def reproduce_setup(
    setup: Setup, plan: ComparisonPlan, how: Workforce, out: Path | None, *, progress: bool = False
) -> Reproduction:
    """Carry out a set-up under both rules, with the same hyperparameters, and judge the paper's claims."""
    by_rule: dict[str, Results] = {}
    values: dict[str, dict[int, Tuned]] | None = None
    for rule in BUDGET_RULES:
        folder = None if out is None else out / rule
        ruled = replace(plan, budget_rule=rule, values=values)
        by_rule[rule] = carry_out(ruled, how, folder, title=f"{setup.name}, {rule}", progress=progress)
        if values is None:
            values, spent = tuned_values(by_rule[rule]), by_rule[rule].settings["tuning_runs"]
        else:  # the same hyperparameters, so the same tuning
            found = by_rule[rule]
            by_rule[rule] = replace(found, settings={**found.settings, "tuning_runs": spent})
            if folder is not None:
                by_rule[rule].save(folder)
    verdicts = tuple(judge(claim, by_rule, plan.budget_rule) for claim in setup.claims)
    return Reproduction(setup, by_rule[plan.budget_rule], by_rule, verdicts)


def tuned_values(results: Results) -> dict[str, dict[int, Tuned]]:
    """The hyperparameters of a comparison, for another one to use."""
    values: dict[str, dict[int, Tuned]] = {method: {} for method in results.methods}
    for row in results.rows:
        values[row["method"]][row["budget"]] = Tuned(row["value"], row["mark"])
    return values


def judge(claim: Claim, by_rule: Mapping[str, Results], rule: str) -> ClaimVerdict:
    """A claim beside what was measured."""
    return _judge_factor(claim, by_rule, rule) if claim.kind == "factor" else _judge_gap(claim, by_rule[rule])


def _judge_factor(claim: Claim, by_rule: Mapping[str, Results], rule: str) -> ClaimVerdict:
    factors = {rule: by_rule[rule].factor(claim.level)}
    factors["as published"] = published_factor(by_rule, claim.level)
    if factors[rule].rival == STRUCTURAL:
        others = [name for name in by_rule[rule].methods if name not in (OURS, STRUCTURAL)]
        factors["without structural committee"] = by_rule[rule].factor(claim.level, rivals=others)
    return ClaimVerdict(
        claim=f"labels of the best baseline over Model Picker's, for {claim.level:.0%} identification",
        where=claim.where,
        paper=f"{claim.paper:g}",
        measured=factors[rule].sentence,
        explanation=_explain(claim, factors, rule, by_rule[rule]),
        factors=factors,
    )


def published_factor(by_rule: Mapping[str, Results], level: float) -> Factor:
    """The factor counted as in the published curves: baselines cut at the budget, Model Picker not, by budget."""
    results = by_rule["expected"]
    budgets = np.array(results.budgets, dtype=np.int32)
    outcomes = {}
    for method in results.methods:
        found = by_rule["expected" if method == OURS else "hard"].outcomes[method]
        outcomes[method] = Outcomes(np.broadcast_to(budgets, found.gaps.shape), found.gaps)
    return factor(outcomes, OURS, level, results.settings["seed"])


def _explain(claim: Claim, factors: Mapping[str, Factor], rule: str, results: Results) -> str:
    """Why the factor is not the paper's, from what was measured."""
    main = factors[rule]
    sentences = []
    if not math.isfinite(main.factor):
        sentences.append("So there is no factor to compare.")
    elif math.isnan(main.low):
        sentences.append("There are too few realizations for an interval.")
    elif main.low <= claim.paper <= main.high:
        sentences.append(f"The paper's {claim.paper:g} lies within the interval.")
    else:
        sentences.append(f"The paper's {claim.paper:g} lies outside the interval.")
        if results.settings["collection"]["stand_in"]:
            sentences.append(
                "The collection is a stand-in with the recorded accuracies: its errors are not those of "
                "the real models, so that only the order of things can be compared."
            )
    if (other := factors.get("without structural committee")) is not None:
        sentences.append(
            "The best rival is structural committee, which does better here than in the paper's curves; against "
            f"the best of the others it is {_times(other)}."
        )
    mixed = factors["as published"]
    if math.isfinite(mixed.factor):
        sentences.append(
            "Counted as in the published curves (baselines cut at the budget, Model Picker not, labels by budget) "
            f"it is {_times(mixed)}."
        )
    return " ".join(sentences)


def _times(found: Factor) -> str:
    if not math.isfinite(found.factor):
        return found.sentence
    return f"{found.factor:.2f} ({found.interval})"


def _judge_gap(claim: Claim, results: Results) -> ClaimVerdict:
    metric = "accuracy_gap" if claim.kind == "gap" else "accuracy_gap_p90"
    rows = [results.row(OURS, budget) for budget in results.budgets]
    labels = np.array([row["queries"] for row in rows])
    needed = labels_needed(labels, -np.array([row[metric] for row in rows]), -claim.gap)
    what = "mean" if claim.kind == "gap" else "90th percentile of the"
    within = f"at most {claim.gap:.1%}" if claim.gap else "zero"
    measured = f"{needed:,.0f} labels" if math.isfinite(needed) else "not reached"
    fewest = f" The fewest labels that Model Picker can buy here are {labels.min():,.0f}."
    if abs(needed - claim.paper) <= 0.1 * claim.paper:
        explanation = "The same, up to a tenth."
    elif needed < claim.paper:
        explanation = "Fewer labels are enough."
    elif results.settings["collection"]["stand_in"]:
        explanation = "More labels: in the stand-in, the leading models may be closer than the real ones."
    else:
        explanation = "More labels are needed."
    return ClaimVerdict(
        claim=f"Model Picker's labels until its {what} accuracy gap is {within}",
        where=claim.where,
        paper=f"{claim.paper:g} labels",
        measured=measured,
        explanation=explanation + (fewest if needed == labels.min() else ""),
        factors={},
    )
