"""Examples of what goes over the wire, by the name of the document: one campaign, some messages into it."""

from importlib.metadata import version
from typing import Any

from modelpicker.algorithms import ModelPicker, PoolOutlook, SliceRow, SliceTable
from modelpicker.campaigns.setting_options import BY_NAME
from modelpicker.campaigns.settings import CampaignSettings
from modelpicker.server.api.documents.settings import algorithm_document, option_document

_COUNTS = {
    "rounds": 1840,
    "labels_used": 57,
    "labels_saved": 1780,
    "pending": 3,
    "skipped": 1,
    "references": 0,
    "conflicts": 0,
}
_CAMPAIGN = {
    "name": "tickets",
    "created": "2026-03-14T09:26:53.589793+00:00",
    "algorithm": "model-picker",
    "budget": 200,
}
_STATE = {
    "name": "waiting-for-labels",
    "title": "Waiting for labels",
    "reason": "3 items wait for a label.",
    "next": "Label what waits.",
    "takes_items": True,
}
_DECISION = {
    "id": 17,
    "key": "msg-17",
    "query": True,
    "probability": 0.3026,
    "prediction": "spam",
    "recommended": "bert",
    "racing": ["bert", "roberta", "gpt"],
}
_ROUND = {
    "predictions": {"bert": "spam", "roberta": "ham", "gpt": "spam"},
    "item": {"text": "You have won!"},
    "key": "msg-17",
}
_QUERY = {
    "id": 17,
    "item": {"text": "You have won!"},
    "key": "msg-17",
    "classes": ["ham", "spam"],
    "candidates": None,
    "note": {"text": "Half of it is missing.", "flagged": True},
    "leased_until": 1773480713.5,
    "leased_by": "desk 2",
}
_SLICES = SliceTable(
    column="language",
    model="gpt",
    tolerance=0.02,
    confidence=0.95,
    rows=(
        SliceRow("en", 1240, 210, 38, "gpt", True, 0.0194, "certified", "It is proven.", True, 0.0),
        SliceRow("de", 600, 130, 19, "bert", True, 0.02, "certified", "It is proven.", False, 0.041),
    ),
    allowed=0.02,
).document()
_STANDING = [
    {"model": "gpt", "estimate": 101.25, "gap": 0.0, "low": None, "high": None, "weight": 0.91},
    {"model": "bert", "estimate": 138.5, "gap": 0.0202, "low": 0.0031, "high": 0.0373, "weight": 0.08},
    {"model": "roberta", "estimate": 164.0, "gap": 0.0341, "low": 0.0142, "high": 0.054, "weight": 0.01},
]
_AT = {"event": 1901, "at": "2026-03-14T09:26:53.589793+00:00"}

_NOTE = {"id": 17, "text": "Half of it is missing.", "flagged": True, "by": "desk 2", "at": _AT["at"]}
_OPINIONS = [{"by": "mia", "label": "spam", "at": _AT["at"]}, {"by": "tom", "label": "ham", "at": _AT["at"]}]

_RULE = {"gap": 0.01, "confidence": 0.95, "kind": "population"}

_CERTIFICATE = {
    "model": "gpt",
    "gap": 0.0625,
    "confidence": 0.95,
    "kind": "population",
    "rounds": 1840,
    "items": None,
    "sentence": "Proven: gpt is at most 6.25 points less accurate than the best model (95% confidence).\n"
    "Of all items like these, if items are drawn independently from one distribution.",
    "loss": "accuracy",
    "label_noise": 0.0,
    "certain": False,
}

_SETTINGS: dict[str, Any] = {
    "models": ["bert", "roberta", "gpt"],
    "classes": ["ham", "spam"],
    "budget": 200,
    "expected_rounds": 50_000,
    "stop_when": _RULE,
}

EXAMPLES: dict[str, dict[str, Any]] = {
    "SettingsDocument": {
        "settings": [option_document(BY_NAME["budget"])],
        "algorithms": [algorithm_document(ModelPicker)],
        "longest_name": 100,
    },
    "NewCampaign": {"name": "tickets", **_SETTINGS},
    "NewTerms": {"budget": 300, "stop_when": _RULE, "paused": True},
    "NewToken": {"name": "mia", "role": "annotator"},
    "TokenList": {"tokens": [{"name": "mia", "role": "annotator", "predictions": False, "created": _AT["at"]}]},
    "MadeToken": {"name": "mia", "role": "annotator", "token": "mp_0123456789abcdef_…"},
    "NewRound": _ROUND,
    "NewRounds": {
        "predictions": [["spam", "ham", "spam"], ["ham", "ham", "ham"]],
        "items": [{"text": "You have won!"}, {"text": "See you at noon"}],
        "keys": ["msg-17", "msg-18"],
    },
    "NewLabel": {"id": 17, "label": "spam", "annotator": "desk 2"},
    "LabelDocument": {"kind": "grades", "grades": [["Paris", 1.0], ["Lyon", 0.0]], "otherwise": None},
    "NewLabels": {"labels": [[17, "spam"], ["msg-18", "ham"], [19, None]]},
    "NewSkip": {"id": 17, "annotator": "desk 2"},
    "NewSettlement": {"id": 17, "label": "spam"},
    "ConflictList": {
        "conflicts": [
            {"id": 17, "key": "msg-17", "item": {"text": "You have won!"}, "opinions": _OPINIONS},
        ],
        "total": 1,
    },
    "AgreementDocument": {
        "items": 20,
        "agreed": 0.9,
        "kappa": 0.7802,
        "pairs": [{"annotators": ["mia", "tom"], "items": 20, "agreed": 0.9, "kappa": 0.7826}],
        "classes": [
            {"label": "ham", "opinions": 26, "kappa": 0.7802},
            {"label": "spam", "opinions": 14, "kappa": 0.7802},
        ],
    },
    "NewRetraction": {"id": 17, "lease": 300, "annotator": "desk 2"},
    "LabelStudioEvent": {
        "action": "ANNOTATION_CREATED",
        "annotation": {
            "id": 41,
            "completed_by": 3,
            "result": [{"from_name": "label", "type": "choices", "value": {"choices": ["spam"]}}],
            "was_cancelled": False,
            "updated_at": "2026-03-14T09:31:12.000000Z",
        },
        "task": {"id": 12, "data": {"text": "You have won!", "modelpicker": {"id": 17, "key": "msg-17"}}},
    },
    "EventOutcomes": {"outcomes": [{"annotation": "41", "item": 17, "result": "taken"}]},
    "NewNote": {"id": 17, "text": "Half of it is missing.", "flagged": True, "annotator": "desk 2"},
    "Noted": {"id": 17, "text": "Half of it is missing.", "flagged": True},
    "NoteList": {"notes": [_NOTE]},
    "NewLease": {"most": 5, "seconds": 300, "annotator": "desk 2"},
    "NewModel": {"model": "roberta-2"},
    "NewSession": {"token": "mp_0123456789abcdef_…"},
    "Decided": _DECISION,
    "DecidedMany": {
        "decisions": [
            _DECISION,
            _DECISION | {"id": 18, "key": "msg-18", "query": False, "probability": 0.0, "prediction": "ham"},
        ]
    },
    "Summaries": {
        "campaigns": [
            _CAMPAIGN
            | {"models": 3, "rounds": 1840, "labels_used": 57, "pending": 3, "skipped": 1, "pick": "gpt", "tied": 1}
            | {"state": _STATE, "damage": None}
        ]
    },
    "Described": _CAMPAIGN
    | CampaignSettings.check(**_SETTINGS).document()
    | _COUNTS
    | {
        "withdrawn": 0,
        "labels_known": 57,
        "costs": {},
        "paused": False,
        "archived": False,
        "finished": False,
        "guidelines": "Spam is what nobody asked for.",
        "state": _STATE,
        "waiting_items": {"tickets.csv": 2310},
        "to_go": None,
        "more": None,
        "pick": "gpt",
        "tied": ["gpt"],
    },
    "Classes": {"classes": ["ham", "spam"], "open": False},
    "Leased": {"queries": [_QUERY], "pending": 3, "deciding": False, "own": 12, "ask_for": "class"},
    "Told": {"id": 17, "label": "spam", "labels_used": 58, "pending": 2},
    "ToldMany": {"told": 3, "labels_used": 59, "pending": 0},
    "Retracted": {"id": 17, "labels_used": 57, "pending": 3},
    "Members": {"models": ["bert", "roberta", "gpt", "roberta-2"]},
    "CertificateDocument": _CERTIFICATE,
    "OutlookAnswer": {"outlook": PoolOutlook(50, 0.8, 0.95).document()},
    "StandingDocument": _COUNTS
    | {
        "event": 1901,
        "pick": "gpt",
        "tied": ["gpt"],
        "covered": 1840,
        "budget": 200,
        "weighted": True,
        "certificate": _CERTIFICATE,
        "certified": False,
        "reached": None,
        "state": _STATE,
        "to_go": None,
        "more": None,
        "remark": "",
        "saved_per_item": None,
        "judge": None,
        "slices": _SLICES,
        "racing": ["gpt", "bert", "roberta"],
        "calls": 5_550,
        "standing": [entry | {"labels": 57, "since": 0, "covered": 1720.5} for entry in _STANDING],
    },
    "ChartsDocument": {
        "event": 1901,
        "weights": {
            "kind": "weights",
            "models": ["gpt", "bert"],
            "labels": [0, 57],
            "rounds": [1, 1840],
            "values": [[0.333, 0.91], [0.333, 0.08]],
        },
        "labels": {"rounds": [0, 920, 1840], "queries": [0, 41, 61], "labels": [0, 40, 57]},
        "recent": {"rounds": [1838, 1839], "probability": [0.0, 0.3026], "queried": [False, True]},
        "disagreement": {
            "rounds": 1840,
            "divided": 212,
            "pairs": [{"classes": ["ham", "spam"], "rounds": 212}],
            "items": [
                {"id": 17, "key": "msg-17", "item": {"text": "You have won!"}, "votes": [["spam", 2], ["ham", 1]]}
            ],
        },
    },
    "HistoryPage": {
        "records": [
            {
                **_AT,
                **{name: value for name, value in _DECISION.items() if name != "racing"},
                "kind": "ask",
                "item": {"text": "You have won!"},
                "predictions": ["spam", "ham", "spam"],
                "pace": [61.0, 0.031, 212.0, 0.97, 0.0, 0.0],
            },
            {**_AT, "event": 1902, "kind": "label", "id": 17, "label": "spam", "by": "desk 2", "replaces": False},
        ],
        "next": 1902,
    },
    "FileLook": {
        "items": 5509,
        "models": ["bert", "roberta", "gpt"],
        "answers": 2,
        "classes": ["ham", "spam"],
        "fields": ["id", "text"],
        "labelled": False,
        "columns": [
            {"name": "id", "role": "id", "doubt": ""},
            {"name": "text", "role": "shown", "doubt": ""},
            {"name": "bert", "role": "model", "doubt": ""},
            {"name": "roberta", "role": "model", "doubt": ""},
            {"name": "gpt", "role": "model", "doubt": ""},
            {"name": "split", "role": "left out", "doubt": "The name suggests that it is not a model."},
        ],
        "rows": [
            {
                "id": "msg-17",
                "text": "You have won!",
                "bert": "spam",
                "roberta": "ham",
                "gpt": "spam",
                "split": "test",
            }
        ],
        "problem": None,
    },
    "Intakes": {
        "intakes": [
            {
                "name": "tickets",
                "phase": "storing",
                "done": 400_000,
                "total": 1_000_000,
                "words": "Storing: 400,000 of 1,000,000 items",
            }
        ]
    },
    "FileTaken": {"rounds": 0, "known": 109, "queries": 0, "waiting": 5400},
    "ItemsDropped": {"dropped": 5400},
    "LabelRows": {
        "labels": [
            {
                "id": 17,
                "key": "msg-17",
                "state": "labelled",
                "label": "spam",
                "by": "mia",
                "at": _AT["at"],
                "item": {"text": "You have won!"},
                "predictions": [["bert", "spam"], ["roberta", "ham"], ["gpt", "spam"]],
                "notes": [_NOTE],
                "opinions": [],
            }
        ],
        "total": 57,
        "annotators": ["mia", "tom"],
    },
    "Answers": {"answers": [{"id": 17, "key": "msg-17", "label": "spam", "state": "labelled"}]},
    "SessionDocument": {
        "authenticated": True,
        "role": "annotator",
        "name": "desk 2",
        "sees_predictions": False,
        "tokens_needed": True,
        "media_hosts": ["cdn.example.org"],
        "demo": False,
        "version": version("modelpicker"),
    },
    "Health": {"status": "ok"},
}
ANSWERS_CSV = "id,key,label,state\r\n17,msg-17,spam,labelled\r\n18,msg-18,,waiting\r\n"
LABELS_CSV = (
    "id,key,label,state,annotator,time,flagged,note,item.text,model.bert\r\n"
    "17,msg-17,spam,labelled,mia,2026-11-18T09:30:00.000000+00:00,False,,You have won!,spam\r\n"
)
FILE_CSV = 'id,text,bert,roberta,gpt\nmsg-17,"You have won!",spam,ham,spam\n'
LIVE = 'retry: 2000\n\nevent: standing\nid: 1901\ndata: {"event":1901,"pick":"gpt"}\n\n'
EXPORT = '{"format": "modelpicker campaign 1", "name": "tickets", "events": 0}\n'
METRICS = "# HELP modelpicker_rounds_total Rounds decided.\n# TYPE modelpicker_rounds_total counter\n" + (
    "modelpicker_rounds_total 1840.0\n"
)
OPEN_METRICS = "# HELP modelpicker_rounds Rounds decided.\n# TYPE modelpicker_rounds counter\n" + (
    "modelpicker_rounds_total 1840.0\n# EOF\n"
)
