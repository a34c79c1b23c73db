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
EPISODES = [MemoryId(f"e{at}") for at in range(8)]
CHATS = [ChatId("c"), ChatId("d")]


def derivation(
    key: str, read: list[int], after: str | None, products: list[int]
) -> Derivation:
    """One with these episodes and products."""
    made = tuple(Product(f"p{at}", is_edge=at % 2 == 1) for at in sorted(set(products)))
    told = tuple(EPISODES[at] for at in sorted(set(read)))
    return Derivation(key, SoulId("s"), Work.DRAFTS, CHATS[0], told, NOON, after, made)


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
    known: dict[str, Derivation] = {}
    for what, which, one, other in steps:
        if what == "tell":
            chat = ChatId(str(which))
            order = tuple(EPISODES[at] for at in one)
            new = Branch(
                chat,
                CHATS[0],
                order,
                frozenset(EPISODES[at] for at in other if at in one[:2]),
            )
            old = branches.branch(chat)
            branches.put(new)
            derived.update_holders(changed_episodes(old, new))
        elif what == "put":
            key = f"v{which}"
            after = (
                f"v{int(str(which)) - 1}"
                if int(str(which)) % 2 and f"v{int(str(which)) - 1}" in known
                else None
            )
            known[key] = derivation(key, one, after, other)
            derived.put(known[key])
        elif f"v{which}" in known:
            for later in derived.with_dependents([f"v{which}"]):
                del known[later.id]
                derived.drop(later.id)

        def holds(chat: ChatId, one: Derivation) -> bool:
            branch = branches.branch(chat)
            if (
                branch is None
                or not set(one.read) <= set(branch.order) - branch.quarantined
            ):
                return False
            return one.after is None or holds(chat, known[one.after])

        held = {
            chat: {key for key, one in known.items() if holds(chat, one)}
            for chat in CHATS
        }
        for chat in CHATS:
            assert {one.id for one in derived.of_chat(chat)} == held[chat]
            assert derived.products(chat) == {
                made.id for key in held[chat] for made in known[key].products
            }
        products = {made.id for one in known.values() for made in one.products}
        for product in products:
            makers = {
                key
                for key, one in known.items()
                if product in {made.id for made in one.products}
            }
            assert {one.id for one in derived.of(product)} == makers
            assert derived.holders(product) == {
                chat for chat in CHATS if held[chat] & makers
            }
        assert derived.orphaned_products() == {
            product for product in products if not derived.holders(product)
        }
        assert set(derived.edges()) == {p for p in products if int(p[1:]) % 2 == 1}
