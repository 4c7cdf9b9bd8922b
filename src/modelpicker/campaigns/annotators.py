"""Who answers. One person may answer from several browsers and tabs, each of which signs with a name of its own."""


def person_of(annotator: str | None) -> str:
    """The person behind an annotator: what stands before the first slash; empty for whoever gives no name.

    A server signs the answers of one token from several browsers this way, and the page those of several tabs.

    >>> person_of("mia/desk 2"), person_of("mia/4f2c81aa"), person_of("mia"), person_of(None)
    ('mia', 'mia', 'mia', '')
    """
    return "" if annotator is None else annotator.partition("/")[0] or annotator
