"""Who answers. One person may answer from several browsers and tabs, each of which signs with a name of its own.

A name has the person first: "mia/desk 2" is Mia, who signed in with a token. The page adds the id of a tab to the
name that somebody typed: "mia-4f2c81aa" is Mia, too. A tab in which no name was typed is a person of its own.
"""

import re

_NAMED_TAB = re.compile(r"(?P<person>(?!page-).+)-[0-9a-f]{8}", re.DOTALL)


def person_of(by: str) -> str:
    """The person who signs with a name.

    >>> person_of("mia-4f2c81aa"), person_of("mia/page-4f2c81aa"), person_of("page-4f2c81aa")
    ('mia', 'mia', 'page-4f2c81aa')
    """
    signed = by.partition("/")[0] or by
    found = _NAMED_TAB.fullmatch(signed)
    return signed if found is None else found["person"]
