"""The parameters of the engine and of all its services."""

from __future__ import annotations

from dataclasses import dataclass, field

from soulmem.domain.soul import SoulSettings
from soulmem.engine.consolidation.consolidator import ConsolidationParams
from soulmem.engine.digests.digest_writer import DigestWork
from soulmem.engine.recall.context import RecallParams
from soulmem.engine.recall.ranking import RankingParams
from soulmem.engine.recall.walks import WalkingParams
from soulmem.engine.upkeep.closing import ClosingParams
from soulmem.engine.world.edge_loader import LoadingParams
from soulmem.engine.world.snapshots import SnapshotParams
from soulmem.governance.bin_time import BinParams


@dataclass(frozen=True, slots=True)
class EngineParams:
    """When the engine becomes Idle, and the parameters of its services."""

    idle_after: float = 60.0  # seconds without a request; design 5
    settle_after: float = 600.0  # seconds until an unchanged last message is settled; design 2
    rest_by_itself: bool = True  # False in test mode: Idle work runs on request alone
    daily_backups: bool = True
    soul: SoulSettings = field(
        default_factory=SoulSettings
    )  # settings of souls that choose nothing else
    recall: RecallParams = field(default_factory=RecallParams)
    ranking: RankingParams = field(default_factory=RankingParams)
    walking: WalkingParams = field(default_factory=WalkingParams)
    loading: LoadingParams = field(default_factory=LoadingParams)
    bin: BinParams = field(default_factory=BinParams)
    closing: ClosingParams = field(default_factory=ClosingParams)
    images: SnapshotParams = field(default_factory=SnapshotParams)
    consolidation: ConsolidationParams = field(default_factory=ConsolidationParams)
    digests: DigestWork = field(default_factory=DigestWork)
