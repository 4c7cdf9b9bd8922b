"""Campaigns: ask and tell that survive a crash."""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from modelpicker.campaigns.campaign import Campaign
    from modelpicker.campaigns.export import export_campaign, import_campaign
    from modelpicker.campaigns.input.validation import Decisions
    from modelpicker.campaigns.offline import pick
    from modelpicker.campaigns.protocol import AnyCampaign
    from modelpicker.campaigns.registry import (
        Listed,
        create_campaign,
        delete_campaign,
        has_campaign,
        list_campaigns,
        open_campaign,
    )
    from modelpicker.campaigns.results.agreement import Agreement, ClassAgreement, PairAgreement
    from modelpicker.campaigns.results.dashboard import Dashboard
    from modelpicker.campaigns.results.judge_quality import JudgedClass, JudgeQuality
    from modelpicker.campaigns.results.pick import (
        AddedItems,
        AnswerRecord,
        AskedFile,
        CampaignCounts,
        Conflict,
        GivenAnswer,
        GivenOpinion,
        ItemNote,
        LabelFilter,
        Pick,
        Query,
        Standing,
    )
    from modelpicker.campaigns.results.status import Status
    from modelpicker.campaigns.state.transactions import Added, BehindError, WriteGroup
    from modelpicker.campaigns.terms import Terms

__all__ = [
    "Added",
    "AddedItems",
    "Agreement",
    "AnswerRecord",
    "AnyCampaign",
    "AskedFile",
    "BehindError",
    "Campaign",
    "CampaignCounts",
    "ClassAgreement",
    "Conflict",
    "Dashboard",
    "Decisions",
    "GivenAnswer",
    "GivenOpinion",
    "ItemNote",
    "JudgeQuality",
    "JudgedClass",
    "LabelFilter",
    "Listed",
    "PairAgreement",
    "Pick",
    "Query",
    "Standing",
    "Status",
    "Terms",
    "WriteGroup",
    "create_campaign",
    "delete_campaign",
    "export_campaign",
    "has_campaign",
    "import_campaign",
    "list_campaigns",
    "open_campaign",
    "pick",
]
HOMES = {
    "Agreement": "results.agreement",
    "ClassAgreement": "results.agreement",
    "PairAgreement": "results.agreement",
    "Conflict": "results.pick",
    "GivenOpinion": "results.pick",
    "Added": "state.transactions",
    "AddedItems": "results.pick",
    "AnswerRecord": "results.pick",
    "AskedFile": "results.pick",
    "AnyCampaign": "protocol",
    "CampaignCounts": "results.pick",
    "BehindError": "state.transactions",
    "Dashboard": "results.dashboard",
    "GivenAnswer": "results.pick",
    "ItemNote": "results.pick",
    "JudgeQuality": "results.judge_quality",
    "JudgedClass": "results.judge_quality",
    "LabelFilter": "results.pick",
    "Terms": "terms",
    "WriteGroup": "state.transactions",
    "export_campaign": "export",
    "has_campaign": "registry",
    "import_campaign": "export",
    "Campaign": "campaign",
    "Decisions": "input.validation",
    "Listed": "registry",
    "Pick": "results.pick",
    "Query": "results.pick",
    "Standing": "results.pick",
    "Status": "results.status",
    "create_campaign": "registry",
    "delete_campaign": "registry",
    "list_campaigns": "registry",
    "open_campaign": "registry",
    "pick": "offline",
}


def __getattr__(name: str) -> object:
    """Import what is asked for when it is asked for: the client needs a `Pick`, and no storage."""
    if name not in HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return globals().setdefault(name, getattr(importlib.import_module(f"{__name__}.{HOMES[name]}"), name))


def __dir__() -> list[str]:
    return __all__
