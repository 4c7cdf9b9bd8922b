"""What changes while a campaign continues: its models, its terms, its name."""

from typing import Any

from modelpicker.algorithms.validation import check_model, check_models
from modelpicker.campaigns.events.event_types import Joining, Leaving, Revision
from modelpicker.campaigns.input.validation import check_annotator
from modelpicker.campaigns.names import check_name
from modelpicker.campaigns.reading import CampaignReading
from modelpicker.campaigns.results.assembly import make_pick
from modelpicker.campaigns.terms import check_changes
from modelpicker.encoding import ModelName
from modelpicker.errors import ConflictError, NotFoundError, brief


class CampaignRevising(CampaignReading):
    """The part of a campaign that its owner changes."""

    def join(self, model: ModelName) -> None:
        """Let another model take part from the next round on.

        It takes over the record of the model that leads now, as if it had said the same until now: it starts level
        with the leader, and its estimate differs from the leader's only by what both say from now on.

        >>> import modelpicker as mp
        >>> campaign = mp.create_campaign("memory://join", "tickets", models=["bert", "gpt"])
        >>> query = campaign.ask({"bert": "spam", "gpt": "ham"}, key="msg-1")
        >>> campaign.join("llama")
        >>> campaign.models
        ('bert', 'gpt', 'llama')
        """
        with self.writing() as change:
            models = change.projection.picker.models
            check_model(model)
            if str(model) in {str(one) for one in models}:
                raise ConflictError(f"model {model!r} takes part already.")
            if change.projection.picker.drops:
                raise ConflictError(
                    f"model {model!r} cannot join: {change.projection.picker.name} may have dropped models that it "
                    "would have to be compared with; start a new campaign with all of them."
                )
            if waiting := change.projection.feed.waiting:
                raise ConflictError(
                    f"model {model!r} cannot join: {waiting:,} items of files wait to be asked about, and have no "
                    "prediction of it. Label on, or drop them first (drop_items)."
                )
            name = check_models([*models, model])[-1]
            change.touched = True
            change.add(Joining(change.head.rounds, name, make_pick(change.store, change.projection).model))

    def leave(self, model: ModelName) -> None:
        """Let a model no longer take part, from the next round on; what is known about the others stays.

        >>> import modelpicker as mp
        >>> campaign = mp.create_campaign("memory://leave", "tickets", models=["bert", "gpt", "llama"])
        >>> campaign.leave("bert")
        >>> campaign.models
        ('gpt', 'llama')
        """
        with self.writing() as change:
            models = change.projection.picker.models
            check_model(model)
            name = next((one for one in models if str(one) == str(model)), None)
            if name is None:
                raise NotFoundError(f"there is no model {brief(model)} in campaign {self.name!r}.")
            if len(models) == 2:
                raise ConflictError(f"without {model!r} there would be one model, and nothing to choose.")
            change.touched = True
            change.add(Leaving(change.head.rounds, name))

    def revise(self, *, name: str | None = None, annotator: str | None = None, **changes: Any) -> None:
        """Change what may be changed while it continues; it holds from here on, and the history keeps it.

        Args:
            name: what to call it from now on.
            annotator: who says so.
            changes: `budget` (None for no limit), `stop_when` (None for no goal), `paused`, `archived`, `finished`,
                or `guidelines` (what annotators read beside the item). On a pool `stop_when` sets the tolerance and
                the confidence; None brings back those it began with. Another tolerance begins the proof again, with
                the labels that are known.

        >>> import modelpicker as mp
        >>> campaign = mp.create_campaign("memory://doctest-revise", "tickets", models=2, budget=20)
        >>> campaign.revise(budget=50, paused=True)
        >>> campaign.budget, campaign.best().state.title
        (50, 'Paused')
        """
        by = check_annotator(annotator)
        if name is not None:
            check_name(name)
        with self.writing() as change:
            state = change.state
            checked = check_changes(self.settings, changes, state.spent)
            now = state.terms.document()
            news = {one: value for one, value in checked.items() if now[one] != value}
            if name not in (None, self.name):
                change.touched = True
                change.store.rename(str(name))
                news["name"] = name
            if news:
                change.touched = True
                change.add(Revision(change.head.rounds, news, by))
                state.revise(news)
        self.name = name or self.name

    def finish(self, *, annotator: str | None = None) -> None:
        """Take the result: nobody is asked any more, and open questions are withdrawn.

        Answers that are under way still count. `revise(finished=False)` continues.

        >>> import modelpicker as mp
        >>> campaign = mp.create_campaign("memory://finish", "tickets", models=["bert", "gpt"])
        >>> query = campaign.ask({"bert": "spam", "gpt": "ham"}, key="msg-1")
        >>> campaign.finish()
        >>> campaign.best().state.name
        'finished'
        """
        self.revise(annotator=annotator, finished=True)

    def rename(self, name: str, *, annotator: str | None = None) -> None:
        """Call it something else; the history keeps when, and who said so.

        >>> import modelpicker as mp
        >>> campaign = mp.create_campaign("memory://rename", "tickets", models=["bert", "gpt"])
        >>> query = campaign.ask({"bert": "spam", "gpt": "ham"}, key="msg-1")
        >>> campaign.rename("mails")
        >>> campaign.name
        'mails'
        """
        self.revise(name=name, annotator=annotator)
