"""Topics: communities of the graph of associated concepts, matched to those found before."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import networkx


@dataclass(frozen=True, slots=True)
class TopicParams:
    """Size of topics, and when two count as the same."""

    smallest: int = 3  # concepts; two that go together are an association, not a topic
    resolution: float = 1.0  # > 0; more gives smaller topics. 1 is Newman's modularity
    same: float = 0.5  # 0..1, share of the smaller from which two are one topic: of the former its core is known
    named_by: int = 3  # concepts, the strongest; design 7
    seed: int = 7  # of the order in which concepts are looked at


@dataclass(frozen=True, slots=True)
class Topic:
    """A group of concepts that belong together."""

    key: str  # stays as long as enough of the concepts do
    name: tuple[str, ...]  # concepts that stand for it
    members: tuple[str, ...]  # the strongest first; of one that was before some may do


def topics_of(
    links: Mapping[tuple[str, str], float],
    before: Sequence[Topic] = (),
    params: TopicParams | None = None,
) -> list[Topic]:
    """Topics of the graph, largest first; one that matches a topic in `before` keeps its key.

    links  weight > 0 by pair of concepts, in either order

    Louvain communities (Blondel et al. 2008, https://doi.org/10.1088/1742-5468/2008/10/P10008).
    `before` affects keys and names only; the members do not depend on it.
    """
    import networkx

    p = params or TopicParams()
    graph: networkx.Graph[str] = networkx.Graph()
    graph.add_nodes_from(sorted(set(chain.from_iterable(links))))
    for (first, second), weight in sorted(links.items()):
        if first != second and weight > 0:
            graph.add_edge(
                first,
                second,
                weight=weight + graph.get_edge_data(first, second, {"weight": 0.0})["weight"],
            )
    communities = networkx.community.louvain_communities(
        graph, resolution=p.resolution, seed=p.seed
    )
    groups = [_strongest_first(graph, group) for group in communities if len(group) >= p.smallest]
    groups.sort(key=lambda members: (-len(members), members))
    former = _former(groups, before, p.same)
    taken = {topic.key for topic in former.values()}
    return [_topic(members, former.get(index), taken, p) for index, members in enumerate(groups)]


def _strongest_first(graph: networkx.Graph[str], group: Collection[str]) -> tuple[str, ...]:
    strength = dict(graph.subgraph(group).degree(weight="weight"))
    return tuple(sorted(group, key=lambda concept: (-round(strength[concept], 9), concept)))


def _former(
    groups: Sequence[Sequence[str]], before: Sequence[Topic], same: float
) -> dict[int, Topic]:
    """Former topic by index of its group, best matches first; each topic and group used once."""
    close = []
    for index, members in enumerate(groups):
        concepts = set(members)
        for topic in before:
            common = len(concepts.intersection(topic.members))
            share = common / min(len(concepts), len(topic.members))
            if share >= same:
                close.append((-share, topic.key, index, topic))
    topic_of_group: dict[int, Topic] = {}
    used_keys: set[str] = set()
    for _, key, index, topic in sorted(close, key=lambda match: match[:3]):
        if index not in topic_of_group and key not in used_keys:
            topic_of_group[index] = topic
            used_keys.add(key)
    return topic_of_group


def _topic(
    members: tuple[str, ...], former: Topic | None, taken: set[str], p: TopicParams
) -> Topic:
    if former is not None:
        fits = set(members[: 2 * p.named_by]).issuperset(former.name)
        return Topic(former.key, former.name if fits else members[: p.named_by], members)
    key = next(
        concept for concept in (*members, f"{members[0]} ({len(taken)})") if concept not in taken
    )
    taken.add(key)
    return Topic(key, members[: p.named_by], members)
