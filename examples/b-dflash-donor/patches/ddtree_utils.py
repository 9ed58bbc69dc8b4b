"""Trees of draft tokens: which drafts a token may attend to, and which path of them was accepted.

A tree is a list of parents: `parents[i]` is the index of the draft that draft i continues, -1 for those that continue
the verified text.
"""

from typing import List, Sequence


def ancestors(parents: Sequence[int], index: int) -> List[int]:
    """The path from the root to a draft, itself included."""
    path: List[int] = []
    while index >= 0:
        path.append(index)
        index = parents[index]
    return path[::-1]


def attention_mask(parents: Sequence[int]) -> List[List[bool]]:
    """Row i: the drafts that draft i may see, which are those on its own path."""
    rows = []
    for index in range(len(parents)):
        path = set(ancestors(parents, index))
        rows.append([other in path for other in range(len(parents))])
    return rows


def longest_accepted(parents: Sequence[int], accepted: Sequence[bool]) -> List[int]:
    """The longest path on which every draft was accepted; the first one when several are as long."""
    paths = [ancestors(parents, index) for index in range(len(parents))]
    whole = [path for path in paths if all(accepted[index] for index in path)]
    return max(whole, key=len, default=[])
