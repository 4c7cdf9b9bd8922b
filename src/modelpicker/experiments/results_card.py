"""A comparison as a notebook shows it: how often each method finds the best model, by budget."""

from modelpicker.experiments.results import Results
from modelpicker.html_pages import html_card, html_table, safe


def results_card(results: Results) -> str:
    """The card."""
    settings = results.settings
    named = settings["collection"]["name"] or settings["collection"]["fingerprint"]
    head = ("method", *(f"{budget:,} labels" for budget in results.budgets))
    rows = [
        (safe(method), *(_cell(results, method, budget) for budget in results.budgets))
        for method in results.methods
    ]
    best = max(results.accuracies.tolist(), default=0.0)
    return html_card(
        f"Comparison on {named}",
        f"<p class=quiet>{settings['realizations']:,} realizations, budget rule {safe(settings['budget_rule'])}. "
        f"The best of {len(results.accuracies):,} models is {best:.1%} accurate.</p>",
        html_table("How often the best model was found, with the standard error", head, rows),
    )


def _cell(results: Results, method: str, budget: int) -> str:
    row = results.row(method, budget)
    error = row.get("identification_probability_se")
    shown = f"{row['identification_probability']:.1%}"
    return shown if error is None else f"{shown} ± {100 * error:.1f}"
