"""A rewording is dropped with the reply that it came from, and the memory reads as its message again.

Compute thread only.
"""

from __future__ import annotations

from dataclasses import replace

from soulmem.domain.dialogue import text_hash
from soulmem.domain.fading_records import FadingRecord
from soulmem.domain.memories import Memory
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import compute_only


@compute_only
def without_lost_rewordings(mind: Mind, change: MindChange) -> MindChange:
    """The change, without the rewordings by replies that it drops, in records and in the audit.

    What is permanent or locked is left alone: its rewording counts no more as soon as the reply is gone.
    """
    written = {record.memory for record in change.put_fading}
    records = []
    for key in mind.fading.reworded_by(change.drop_memories):
        memory, record = mind.memories.get(key), mind.fading.of(key)
        if memory is None or record is None or key in change.drop_memories:
            continue
        if key not in written and not memory.permanent and not memory.locked:
            records.append(_in_own_words(memory, record))
    if not records:
        return change
    purged = dict.fromkeys((*change.purge_audit, *(r.memory for r in records)))
    return replace(
        change,
        put_fading=(*change.put_fading, *records),
        purge_audit=tuple(purged),
    )


def _in_own_words(memory: Memory, record: FadingRecord) -> FadingRecord:
    """The record without its rewording; anchors stay whose words the text has."""
    return replace(
        record,
        wording=text_hash(memory.text),
        units=(),
        anchors=tuple(a for a in record.anchors if a.text in memory.text),
        own_units=False,
        reworded=None,
        reply=None,
        retold=None,
    )
