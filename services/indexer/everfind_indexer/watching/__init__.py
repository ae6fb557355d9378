"""Follows folders: hears of changes, gathers them, and lets the engine index what changed."""

from everfind_indexer.watching.follower import Follower
from everfind_indexer.watching.following import Following
from everfind_indexer.watching.pending import Pace

__all__ = ["Follower", "Following", "Pace"]
