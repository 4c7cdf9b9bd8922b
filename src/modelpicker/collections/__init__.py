"""Collections: the type, files in and out, synthetic ones, and those that ship."""

from modelpicker.collections.collection import ModelCollection
from modelpicker.collections.files import load_collection, open_collection
from modelpicker.collections.same_answers import merge_answers
from modelpicker.collections.synthetic import synthetic_collection
from modelpicker.collections.wide_tables import CollectionReader

__all__ = [
    "CollectionReader",
    "ModelCollection",
    "load_collection",
    "merge_answers",
    "open_collection",
    "synthetic_collection",
]
