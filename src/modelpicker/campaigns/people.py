"""Who a person is: the part of an annotator's name before the first slash."""


def person_of(annotator: str | None) -> str:
    """The person behind an annotator: "mia" for "mia/desk 1", and "" for whoever gives no name.

    A server signs the answers of one token from several browsers this way; they are one person's.
    """
    return "" if annotator is None else annotator.partition("/")[0] or annotator
