"""Campaigns: ask and tell that survive a crash."""

from modelpicker.campaigns.campaign import Campaign
from modelpicker.campaigns.offline import pick
from modelpicker.campaigns.opening import Listed, create_campaign, list_campaigns, open_campaign
from modelpicker.campaigns.picks import Pick, Query, Standing
from modelpicker.campaigns.rounds import Decisions

__all__ = [
    "Campaign",
    "Decisions",
    "Listed",
    "Pick",
    "Query",
    "Standing",
    "create_campaign",
    "list_campaigns",
    "open_campaign",
    "pick",
]
