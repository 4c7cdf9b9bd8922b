"""Find the best of your pre-trained classifiers on your own data, with as few labels as possible."""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from modelpicker.algorithms import (
        Algorithm,
        Budget,
        Decision,
        EfficientActive,
        ImportanceWeighted,
        LabelEfficient,
        ModelPicker,
        PoolPicker,
        PoolTrace,
        Race,
        StructuralCommittee,
        Trace,
        VoteEntropy,
        run_pool,
        run_stream,
    )
    from modelpicker.algorithms.checks import (
        Check,
        check_algorithm,
    )
    from modelpicker.campaigns import (
        AddedItems,
        Agreement,
        AnswerRecord,
        AnyCampaign,
        Campaign,
        CampaignCounts,
        ClassAgreement,
        Conflict,
        Decisions,
        GivenAnswer,
        GivenOpinion,
        LabelFilter,
        Listed,
        PairAgreement,
        Pick,
        Query,
        Standing,
        Status,
        Terms,
        create_campaign,
        delete_campaign,
        export_campaign,
        import_campaign,
        list_campaigns,
        open_campaign,
        pick,
    )
    from modelpicker.certificates.accuracy import AccuracyInterval
    from modelpicker.certificates.certificate import (
        Certificate,
        Certified,
    )
    from modelpicker.collections import (
        CollectionReader,
        ModelCollection,
        load_collection,
        open_collection,
        synthetic_collection,
    )
    from modelpicker.errors import (
        AccessError,
        ConflictError,
        FileError,
        InputError,
        MissingExtraError,
        ModelPickerError,
        NotFoundError,
        RoundError,
        SchemaError,
        StateError,
        StorageError,
        UnclearColumnsError,
        UnknownOptionError,
        UntestedVersionError,
    )
    from modelpicker.experiments import (
        Factor,
        Method,
        Results,
        compare,
    )
    from modelpicker.server.client import (
        Client,
        RemoteCampaign,
    )

    __version__: str

__all__ = [
    "AccessError",
    "AccuracyInterval",
    "AddedItems",
    "Agreement",
    "Algorithm",
    "AnswerRecord",
    "AnyCampaign",
    "Budget",
    "Campaign",
    "CampaignCounts",
    "Certificate",
    "Certified",
    "Check",
    "ClassAgreement",
    "Client",
    "CollectionReader",
    "Conflict",
    "ConflictError",
    "Decision",
    "Decisions",
    "EfficientActive",
    "Factor",
    "FileError",
    "GivenAnswer",
    "GivenOpinion",
    "ImportanceWeighted",
    "InputError",
    "LabelEfficient",
    "LabelFilter",
    "Listed",
    "Method",
    "MissingExtraError",
    "ModelCollection",
    "ModelPicker",
    "ModelPickerError",
    "NotFoundError",
    "PairAgreement",
    "Pick",
    "PoolPicker",
    "PoolTrace",
    "Query",
    "Race",
    "RemoteCampaign",
    "Results",
    "RoundError",
    "SchemaError",
    "Standing",
    "StateError",
    "Status",
    "StorageError",
    "StructuralCommittee",
    "Terms",
    "Trace",
    "UnclearColumnsError",
    "UnknownOptionError",
    "UntestedVersionError",
    "VoteEntropy",
    "__version__",
    "check_algorithm",
    "compare",
    "create_campaign",
    "delete_campaign",
    "export_campaign",
    "import_campaign",
    "list_campaigns",
    "load_collection",
    "open_campaign",
    "open_collection",
    "pick",
    "run_pool",
    "run_stream",
    "synthetic_collection",
]
# Where each name comes from: nothing is imported before it is used, so that `modelpicker --help` need not wait.
HOMES = {
    "algorithms": (
        "Algorithm",
        "Budget",
        "Decision",
        "EfficientActive",
        "ImportanceWeighted",
        "LabelEfficient",
        "ModelPicker",
        "PoolPicker",
        "PoolTrace",
        "Race",
        "StructuralCommittee",
        "Trace",
        "VoteEntropy",
        "run_pool",
        "run_stream",
    ),
    "algorithms.checks": (
        "Check",
        "check_algorithm",
    ),
    "campaigns": (
        "AddedItems",
        "Agreement",
        "AnswerRecord",
        "AnyCampaign",
        "Campaign",
        "CampaignCounts",
        "ClassAgreement",
        "Conflict",
        "Decisions",
        "GivenAnswer",
        "GivenOpinion",
        "LabelFilter",
        "Listed",
        "PairAgreement",
        "Pick",
        "Query",
        "Standing",
        "Status",
        "Terms",
        "create_campaign",
        "delete_campaign",
        "export_campaign",
        "import_campaign",
        "list_campaigns",
        "open_campaign",
        "pick",
    ),
    "certificates.accuracy": ("AccuracyInterval",),
    "certificates.certificate": (
        "Certificate",
        "Certified",
    ),
    "collections": (
        "CollectionReader",
        "ModelCollection",
        "load_collection",
        "open_collection",
        "synthetic_collection",
    ),
    "errors": (
        "AccessError",
        "ConflictError",
        "FileError",
        "InputError",
        "MissingExtraError",
        "ModelPickerError",
        "NotFoundError",
        "RoundError",
        "SchemaError",
        "StateError",
        "StorageError",
        "UnclearColumnsError",
        "UnknownOptionError",
        "UntestedVersionError",
    ),
    "experiments": (
        "Factor",
        "Method",
        "Results",
        "compare",
    ),
    "server.client": (
        "Client",
        "RemoteCampaign",
    ),
}
ROOMS = (
    "algorithms",
    "campaigns",
    "certificates",
    "coins",
    "collections",
    "encoding",
    "errors",
    "experiments",
    "kernels",
    "server",
    "theory",
)
# What completion shows: the names that a user needs first, and the rooms that have the others.
FIRST = (
    "Certified",
    "Client",
    "ModelCollection",
    "ModelPicker",
    "ModelPickerError",
    "Race",
    "__version__",
    "compare",
    "create_campaign",
    "list_campaigns",
    "load_collection",
    "open_campaign",
    "open_collection",
    "pick",
    "run_pool",
    "run_stream",
    "synthetic_collection",
)


def __getattr__(name: str) -> object:
    """Import what is asked for when it is asked for: `modelpicker --help` should not wait for NumPy."""
    if name == "__version__":
        from importlib.metadata import version

        return version("modelpicker")
    if name in ROOMS:
        return importlib.import_module(f"modelpicker.{name}")
    for home, names in HOMES.items():
        if name in names:
            return globals().setdefault(name, getattr(importlib.import_module(f"modelpicker.{home}"), name))
    raise AttributeError(f"module 'modelpicker' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*FIRST, *ROOMS]
