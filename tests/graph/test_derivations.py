"""Which chat holds what was drafted? Told by counting, whatever comes in which order."""

from __future__ import annotations

from datetime import datetime, timezone

from hypothesis import given
from hypothesis import strategies as st

from soulmem.domain.derivations import Derivation, Product, Work
from soulmem.domain.ids import ChatId, MemoryId, SoulId
from soulmem.graph.branches import Branch, Branches, changed_episodes
from soulmem.graph.derivations import Derivations

NOON = datetime(2026, 5, 1, 12, tzinfo=timezone.utc)
EPISODES = [MemoryId(f"e{index}") for index in range(8)]
CHATS = [ChatId("c"), ChatId("d")]


def derivation(key: str, read: list[int], after: str | None, products: list[int]) -> Derivation:
    """One with these episodes and products."""
    made = tuple(Product(f"p{index}", is_edge=index % 2 == 1) for index in sorted(set(products)))
    read_before = tuple(EPISODES[index] for index in sorted(set(read)))
    return Derivation(key, SoulId("s"), Work.DRAFTS, CHATS[0], read_before, NOON, after, made)


NUMBERS = st.lists(st.integers(0, 7), min_size=1, max_size=4)
STEPS = st.lists(
    st.one_of(
        st.tuples(
            st.just("tell"),
            st.sampled_from(CHATS),
            st.lists(st.integers(0, 7), unique=True),
            NUMBERS,
        ),
        st.tuples(st.just("put"), st.integers(0, 5), NUMBERS, NUMBERS),
        st.tuples(st.just("drop"), st.integers(0, 5), NUMBERS, NUMBERS),
    ),
    max_size=25,
)


@given(STEPS)
def test_a_chat_holds_what_it_tells_all_of(
    steps: list[tuple[str, object, list[int], list[int]]],
) -> None:
    branches = Branches()
    derived = Derivations(branches)
    expected: dict[str, Derivation] = {}
    for what, which, item, other in steps:
        if what == "tell":
            chat = ChatId(str(which))
            order = tuple(EPISODES[index] for index in item)
            new = Branch(
                chat,
                CHATS[0],
                order,
                frozenset(EPISODES[index] for index in other if index in item[:2]),
            )
            old = branches.branch(chat)
            branches.put(new)
            derived.update_holders(changed_episodes(old, new))
        elif what == "put":
            key = f"v{which}"
            after = (
                f"v{int(str(which)) - 1}"
                if int(str(which)) % 2 and f"v{int(str(which)) - 1}" in expected
                else None
            )
            expected[key] = derivation(key, item, after, other)
            derived.put(expected[key])
        elif f"v{which}" in expected:
            for later in derived.with_dependents([f"v{which}"]):
                del expected[later.id]
                derived.drop(later.id)

        def holds(chat: ChatId, derivation: Derivation) -> bool:
            branch = branches.branch(chat)
            if branch is None or not set(derivation.read) <= set(branch.order) - branch.quarantined:
                return False
            return derivation.after is None or holds(chat, expected[derivation.after])

        held_by_chat = {
            chat: {key for key, item in expected.items() if holds(chat, item)} for chat in CHATS
        }
        for chat in CHATS:
            assert {item.id for item in derived.of_chat(chat)} == held_by_chat[chat]
            assert derived.products(chat) == {
                made.id for key in held_by_chat[chat] for made in expected[key].products
            }
        products = {made.id for item in expected.values() for made in item.products}
        for product in products:
            makers = {
                key
                for key, item in expected.items()
                if product in {made.id for made in item.products}
            }
            assert {item.id for item in derived.of(product)} == makers
            assert derived.holders(product) == {
                chat for chat in CHATS if held_by_chat[chat] & makers
            }
        assert derived.orphaned_products() == {
            product for product in products if not derived.holders(product)
        }
        assert set(derived.edges()) == {p for p in products if int(p[1:]) % 2 == 1}
