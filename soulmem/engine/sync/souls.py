"""The soul service: create, change, read and delete souls."""

from __future__ import annotations

from dataclasses import dataclass, replace

from soulmem.domain.audit import Action, Actor, AuditEntry
from soulmem.domain.errors import ConfirmationRequired
from soulmem.domain.ids import Owner, SoulId
from soulmem.domain.phrases import phrase
from soulmem.domain.soul import KnownName, SettingsChange, Soul, SoulSettings, SoulState
from soulmem.engine.sync.chat_writer import ChatWriter
from soulmem.engine.vectors.token_keeper import TokenKeeper
from soulmem.engine.world.audit import BY_USER
from soulmem.engine.world.fingerprint import fingerprint
from soulmem.engine.world.services import Services
from soulmem.engine.world.snapshots import SnapshotKeeper
from soulmem.engine.world.world import World
from soulmem.ports.store import Change


@dataclass(kw_only=True, eq=False)
class SoulService:
    """The souls of all owners."""

    services: Services
    writer: ChatWriter
    images: SnapshotKeeper
    tokens: TokenKeeper
    defaults: SoulSettings

    def __post_init__(self) -> None:
        self._defaults = replace(self.defaults, chosen=frozenset())

    async def put(
        self,
        owner: Owner,
        soul: SoulId,
        name: str,
        names: tuple[KnownName, ...] | None,
        settings: SoulSettings | SettingsChange | None,
    ) -> tuple[Soul, bool]:
        """Create or change a soul; None leaves a stored value. Returns the soul and
        whether it is new.

        `settings` is a change of single settings, or the complete new settings.
        """
        world = await self.services.world_of(owner)
        world.check_readable(soul)
        async with world.writing as token:
            old = world.souls.get(soul)
            base = old or Soul(
                soul, name, settings=self._defaults, created=self.services.clock.now()
            )
            new = replace(
                base,
                name=name,
                names=base.names if names is None else base.names_given(names),
                settings=self._settings_after(base.settings, settings),
                state=SoulState.ACTIVE,
            )
            if new != old:
                await world.pending_writes.catch_up(token, soul)
                if world.use.is_closed(soul):
                    await world.mind_while_writing(token, soul)
                mind = world.minds.get(soul)
                if mind is None:
                    entries = []
                    if old is not None and old.state is SoulState.BIN:
                        entries = [await self._entry(world, old, new, Action.RESTORE)]
                    await self.services.store.commit(
                        Change(world.owner, souls=[new], audit=entries)
                    )
                else:
                    await self.writer.change_soul(token, world, mind, new)
                world.souls[soul] = new
        world.open_ahead([soul])
        return new, old is None or old.state is SoulState.BIN

    async def get(self, owner: Owner, soul: SoulId) -> Soul:
        """The soul. Raises NotFound."""
        return (await self.services.world_of(owner)).soul(soul, "soul")

    async def list(self, owner: Owner, state: SoulState = SoulState.ACTIVE) -> list[Soul]:
        """Active souls, or those in the bin that can still be restored."""
        world = await self.services.world_of(owner)
        return [s for s in world.souls.values() if s.state is state and s.name]

    async def in_memory(self, owner: Owner) -> frozenset[SoulId]:
        """The souls that are open; the others are opened by the first request for them."""
        return frozenset((await self.services.world_of(owner)).minds)

    async def fingerprint(self, owner: Owner, soul: SoulId) -> str:
        """A hash that is equal for equal surviving chats; see `world.fingerprint`. Raises NotFound."""
        world = await self.services.world_of(owner)
        world.soul(soul)
        mind = await world.mind(soul)
        for branch in list(mind.branches):
            await world.log(branch.chat)
        async with self.services.loader.everything(owner, mind):
            return await self.services.compute.run(fingerprint, world, mind)

    def _settings_after(
        self, old: SoulSettings, wanted: SoulSettings | SettingsChange | None
    ) -> SoulSettings:
        if wanted is None:
            return old
        return wanted.of(old, self._defaults) if isinstance(wanted, SettingsChange) else wanted

    async def _entry(self, world: World, old: Soul, new: Soul, action: Action) -> AuditEntry:
        before, after = {"state": old.state.value}, {"state": new.state.value}
        return await self.services.auditor.entry(
            world.owner, new.id, BY_USER, action, new.id, before, after
        )

    async def delete(self, owner: Owner, soul: SoulId, confirm: str | None) -> None:
        """Put the soul into the bin; `confirm` must be its name. Its memories stay with it."""
        world = await self.services.world_of(owner)
        async with world.writing:
            old = world.soul(soul)
            if confirm != old.name:
                raise ConfirmationRequired(
                    phrase(
                        "soul_confirm",
                        "to delete '{name}' repeat with ?confirm={name}",
                        name=old.name,
                    ),
                    field="confirm",
                )
            new = replace(old, state=SoulState.BIN)
            entry = await self._entry(world, old, new, Action.BIN)
            await self.services.store.commit(
                Change(world.owner, souls=[new], audit=[entry], by=Actor.USER)
            )
            world.souls[soul] = new
            world.unload(soul)
            await self.images.drop(world, new)
            await self.tokens.drop(owner, soul)
