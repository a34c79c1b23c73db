"""The tables of the store."""

from __future__ import annotations

# Stores of another schema are refused. Those up to 20 were written before the first release.
VERSION = 21

# Of the schema. Every later SoulMem must be able to read it.
META = """
DEFINE TABLE IF NOT EXISTS meta SCHEMAFULL;
DEFINE FIELD IF NOT EXISTS version ON meta TYPE int;
"""

# Ids: soul, chat and memory [owner, id]; message [owner, chat, slot]; edge [owner, edge id];
# vector [model, key]. Memories and edges repeat the parts of their ids as fields, for the index that reads a
# soul's graph page by page. `told` holds a value as one JSON text; `terms` and `names` of a memory are JSON texts,
# because thousands of small arrays in one transaction are slow. `doubted` is the hash of the wording that the user
# called wrong.
_GRAPH = """
DEFINE TABLE soul SCHEMAFULL;
DEFINE FIELD name ON soul TYPE string;
DEFINE FIELD names ON soul TYPE array<object>;
DEFINE FIELD OVERWRITE names.* ON soul TYPE object FLEXIBLE;
DEFINE FIELD settings ON soul TYPE object FLEXIBLE;
DEFINE FIELD state ON soul TYPE string;
DEFINE FIELD created ON soul TYPE option<datetime>;

DEFINE TABLE chat SCHEMAFULL;
DEFINE FIELD souls ON chat TYPE array<string>;
DEFINE FIELD cast ON chat TYPE array<string>;
DEFINE FIELD title ON chat TYPE string;
DEFINE FIELD persona ON chat TYPE string;
DEFINE FIELD parent ON chat TYPE option<object> FLEXIBLE;
DEFINE FIELD settled_tail ON chat TYPE option<object> FLEXIBLE;
DEFINE FIELD tail_since ON chat TYPE option<datetime>;
DEFINE FIELD hold ON chat TYPE option<object> FLEXIBLE;
DEFINE FIELD state ON chat TYPE string;
DEFINE FIELD created ON chat TYPE option<datetime>;

DEFINE TABLE message SCHEMAFULL;
DEFINE FIELD told ON message TYPE string;

DEFINE TABLE memory SCHEMAFULL;
DEFINE FIELD owner ON memory TYPE string;
DEFINE FIELD soul ON memory TYPE string;
DEFINE FIELD key ON memory TYPE string;
DEFINE FIELD kind ON memory TYPE string;
DEFINE FIELD text ON memory TYPE string ASSERT string::len($value) > 0;
DEFINE FIELD origin ON memory TYPE string;
DEFINE FIELD created ON memory TYPE datetime;
DEFINE FIELD tags ON memory TYPE array<string>;
DEFINE FIELD importance ON memory TYPE float ASSERT $value >= 0 AND $value <= 1;
DEFINE FIELD permanent ON memory TYPE bool;
DEFINE FIELD locked ON memory TYPE bool;
DEFINE FIELD timelines ON memory TYPE string;
DEFINE FIELD state ON memory TYPE string;
DEFINE FIELD revision ON memory TYPE int;
DEFINE FIELD evidence ON memory TYPE array<array>;
DEFINE FIELD place ON memory TYPE option<object> FLEXIBLE;
DEFINE FIELD situation ON memory TYPE option<object> FLEXIBLE;
DEFINE FIELD concept ON memory TYPE option<object> FLEXIBLE;
DEFINE FIELD terms ON memory TYPE option<string>;
DEFINE FIELD names ON memory TYPE option<string>;
DEFINE FIELD merged_into ON memory TYPE option<string>;
DEFINE FIELD kept_apart ON memory TYPE option<bool>;
DEFINE FIELD brought_back ON memory TYPE option<bool>;
DEFINE FIELD importance_given ON memory TYPE option<bool>;
DEFINE INDEX memory_of ON memory FIELDS owner, soul, key;

DEFINE TABLE edge TYPE RELATION IN memory OUT memory ENFORCED SCHEMAFULL;
DEFINE FIELD owner ON edge TYPE string;
DEFINE FIELD soul ON edge TYPE string;
DEFINE FIELD key ON edge TYPE string;
DEFINE FIELD kind ON edge TYPE string;
DEFINE FIELD origin ON edge TYPE string;
DEFINE FIELD touched ON edge TYPE datetime;
DEFINE FIELD strength ON edge TYPE float ASSERT $value >= 0 AND $value <= 1;
DEFINE FIELD confidence ON edge TYPE float ASSERT $value >= 0 AND $value <= 1;
DEFINE FIELD stability ON edge TYPE float;
DEFINE FIELD uses ON edge TYPE int;
DEFINE FIELD verb ON edge TYPE option<string>;
DEFINE FIELD probability ON edge TYPE option<float>;
DEFINE FIELD at_turn ON edge TYPE option<float>;
DEFINE FIELD made ON edge TYPE option<datetime>;
DEFINE INDEX edge_of ON edge FIELDS owner, soul, key;

DEFINE TABLE vector SCHEMAFULL;
DEFINE FIELD data ON vector TYPE bytes;
"""

# No statement can change a permanent or locked memory, or unite it with others, unless the transaction is the
# user's ($hand = 'user'); memories in the bin may be deleted. Of `state` counts whether the memory is still there:
# a concept is stale while names change.
_PROTECTED = """
DEFINE EVENT protected ON memory WHEN $hand != 'user' AND $before != NONE
    AND ($before.permanent = true OR $before.locked = true) AND (
    ($event = 'DELETE' AND $before.state != 'bin')
    OR ($event = 'UPDATE' AND (
        [$before.soul, $before.kind, $before.text, $before.created, $before.tags, $before.importance,
         $before.permanent, $before.locked, $before.timelines, $before.situation, $before.concept,
         $before.state IN ['bin', 'retracted', 'forgotten', 'merged']]
        != [$after.soul, $after.kind, $after.text, $after.created, $after.tags, $after.importance,
         $after.permanent, $after.locked, $after.timelines, $after.situation, $after.concept,
         $after.state IN ['bin', 'retracted', 'forgotten', 'merged']])
    )
) THEN { THROW 'soulmem-protected: memory ' + $before.key };
"""

# usage [owner, memory id], recall [owner, trace]: separate tables, so that a recall does not rewrite memories.
_RECALLS = """
DEFINE TABLE usage SCHEMAFULL;
DEFINE FIELD owner ON usage TYPE string;
DEFINE FIELD soul ON usage TYPE string;
DEFINE FIELD key ON usage TYPE string;
DEFINE FIELD count ON usage TYPE int;
DEFINE FIELD first ON usage TYPE datetime;
DEFINE FIELD first_turn ON usage TYPE int;
DEFINE FIELD stamps ON usage TYPE array<datetime>;
DEFINE FIELD turns ON usage TYPE array<int>;
DEFINE INDEX usage_of ON usage FIELDS owner, soul, key;

DEFINE TABLE recall SCHEMAFULL;
DEFINE FIELD owner ON recall TYPE string;
DEFINE FIELD soul ON recall TYPE string;
DEFINE FIELD key ON recall TYPE string;
DEFINE FIELD chat ON recall TYPE string;
DEFINE FIELD slot ON recall TYPE string;
DEFINE FIELD swipe ON recall TYPE int;
DEFINE FIELD at ON recall TYPE datetime;
DEFINE FIELD turn ON recall TYPE int;
DEFINE FIELD trails ON recall TYPE array<array>;
DEFINE INDEX recall_of ON recall FIELDS owner, soul, key;
"""

# image [owner, soul]: the token of the valid snapshot of a soul. A commit that writes the soul deletes it.
_IMAGES = """
DEFINE TABLE image SCHEMAFULL;
DEFINE FIELD token ON image TYPE string;
"""

# image_change [owner, soul, place]: ids of what one commit changed since the soul's snapshot.
_IMAGE_CHANGES = """
DEFINE TABLE image_change SCHEMAFULL;
DEFINE FIELD put ON image_change TYPE array<string>;
DEFINE FIELD dropped ON image_change TYPE array<string>;
DEFINE FIELD edges ON image_change TYPE array<string>;
DEFINE FIELD chats ON image_change TYPE array<string>;
"""

# audit [owner, entry]; audit_group [owner, first entry]: entries that differ only in id and target. Words of
# `erased` targets are gone.
_AUDIT = """
DEFINE TABLE audit SCHEMAFULL;
DEFINE FIELD owner ON audit TYPE string;
DEFINE FIELD soul ON audit TYPE string;
DEFINE FIELD key ON audit TYPE string;
DEFINE FIELD at ON audit TYPE datetime;
DEFINE FIELD actor ON audit TYPE string;
DEFINE FIELD action ON audit TYPE string;
DEFINE FIELD target ON audit TYPE string;
DEFINE FIELD before ON audit TYPE option<string>;
DEFINE FIELD after ON audit TYPE option<string>;
DEFINE FIELD source ON audit TYPE string;
DEFINE FIELD reason ON audit TYPE string;
DEFINE INDEX audit_of ON audit FIELDS owner, soul, key;
DEFINE INDEX audit_target ON audit FIELDS owner, target, key;
DEFINE EVENT kept ON audit WHEN $event = 'DELETE' OR ($event = 'UPDATE' AND $before != $after AND (
    $after.before != NONE OR $after.after != NONE OR $after.reason != ''
    OR [$before.owner, $before.soul, $before.key, $before.at, $before.actor, $before.action, $before.target,
        $before.source]
    != [$after.owner, $after.soul, $after.key, $after.at, $after.actor, $after.action, $after.target,
        $after.source]
)) THEN { THROW 'soulmem-protected: an entry of the audit' };

DEFINE TABLE audit_group SCHEMAFULL;
DEFINE FIELD owner ON audit_group TYPE string;
DEFINE FIELD soul ON audit_group TYPE string;
DEFINE FIELD key ON audit_group TYPE string;
DEFINE FIELD at ON audit_group TYPE datetime;
DEFINE FIELD actor ON audit_group TYPE string;
DEFINE FIELD action ON audit_group TYPE string;
DEFINE FIELD before ON audit_group TYPE option<string>;
DEFINE FIELD after ON audit_group TYPE option<string>;
DEFINE FIELD source ON audit_group TYPE string;
DEFINE FIELD reason ON audit_group TYPE string;
DEFINE FIELD keys ON audit_group TYPE array<string>;
DEFINE FIELD targets ON audit_group TYPE array<string>;
DEFINE FIELD erased ON audit_group TYPE array<string>;
DEFINE INDEX audit_group_of ON audit_group FIELDS owner, soul, key;
DEFINE EVENT kept ON audit_group WHEN $event = 'DELETE' OR ($event = 'UPDATE' AND (
    [$before.owner, $before.soul, $before.key, $before.at, $before.actor, $before.action, $before.before,
        $before.after, $before.source, $before.reason, $before.keys, $before.targets]
    != [$after.owner, $after.soul, $after.key, $after.at, $after.actor, $after.action, $after.before,
        $after.after, $after.source, $after.reason, $after.keys, $after.targets]
    OR NOT ($after.erased CONTAINSALL $before.erased)
)) THEN { THROW 'soulmem-protected: an entry of the audit' };
"""

# deletion [owner, request], opinion [owner, memory]
_HANDS = """
DEFINE TABLE deletion SCHEMAFULL;
DEFINE FIELD owner ON deletion TYPE string;
DEFINE FIELD soul ON deletion TYPE string;
DEFINE FIELD memory ON deletion TYPE string;
DEFINE FIELD actor ON deletion TYPE string;
DEFINE FIELD reason ON deletion TYPE string;
DEFINE FIELD quote ON deletion TYPE string;
DEFINE FIELD at ON deletion TYPE datetime;
DEFINE FIELD state ON deletion TYPE string;
DEFINE FIELD decided ON deletion TYPE option<datetime>;

DEFINE TABLE opinion SCHEMAFULL;
DEFINE FIELD owner ON opinion TYPE string;
DEFINE FIELD soul ON opinion TYPE string;
DEFINE FIELD key ON opinion TYPE string;
DEFINE FIELD score ON opinion TYPE float ASSERT $value >= 0 AND $value <= 1;
DEFINE FIELD doubted ON opinion TYPE option<string>;
DEFINE FIELD not_in ON opinion TYPE array<string>;
DEFINE INDEX opinion_of ON opinion FIELDS owner, soul, key;
"""

# derivation [owner, derivation]: what a language model read and what was derived from it. books [owner, soul]:
# usage of language models and work that waits for one.
_MODELS = """
DEFINE TABLE derivation SCHEMAFULL;
DEFINE FIELD owner ON derivation TYPE string;
DEFINE FIELD soul ON derivation TYPE string;
DEFINE FIELD key ON derivation TYPE string;
DEFINE FIELD told ON derivation TYPE string;
DEFINE INDEX derivation_of ON derivation FIELDS owner, soul, key;

DEFINE TABLE books SCHEMAFULL;
DEFINE FIELD told ON books TYPE string;
"""

# edge_vector [owner, edge id]: a separate table, so that reading the graph does not read the vectors.
_EDGE_VECTORS = """
DEFINE TABLE edge_vector SCHEMAFULL;
DEFINE FIELD owner ON edge_vector TYPE string;
DEFINE FIELD soul ON edge_vector TYPE string;
DEFINE FIELD key ON edge_vector TYPE string;
DEFINE FIELD source ON edge_vector TYPE string;
DEFINE FIELD target ON edge_vector TYPE string;
DEFINE FIELD model ON edge_vector TYPE string;
DEFINE FIELD weight ON edge_vector TYPE float;
DEFINE FIELD turn ON edge_vector TYPE float;
DEFINE FIELD data ON edge_vector TYPE bytes;
DEFINE INDEX edge_vector_of ON edge_vector FIELDS owner, soul, key;
DEFINE INDEX edge_vector_from ON edge_vector FIELDS source;
DEFINE INDEX edge_vector_to ON edge_vector FIELDS target;
"""

# fading [owner, memory id]: units, anchors and rewording of one memory.
_FADING = """
DEFINE TABLE fading SCHEMAFULL;
DEFINE FIELD owner ON fading TYPE string;
DEFINE FIELD soul ON fading TYPE string;
DEFINE FIELD key ON fading TYPE string;
DEFINE FIELD told ON fading TYPE string;
DEFINE INDEX fading_of ON fading FIELDS owner, soul, key;

DEFINE EVENT protected ON fading WHEN $hand NOT IN ['user', 'import'] AND $event != 'DELETE'
    AND $before.told != $after.told AND (
    type::record('memory', [$after.owner, $after.key]).permanent = true
    OR type::record('memory', [$after.owner, $after.key]).locked = true
) THEN { THROW 'soulmem-protected: memory ' + $after.key };
"""

# shelf [owner, soul, block]: forgotten memories without edges, their rows compressed.
_SHELF = """
DEFINE TABLE shelf SCHEMAFULL;
DEFINE FIELD data ON shelf TYPE bytes;
"""

# stream_event [owner, soul, stream, time, event]: only ever added.
_STREAMS = """
DEFINE TABLE stream_event SCHEMAFULL;
DEFINE FIELD speaker ON stream_event TYPE string;
DEFINE FIELD text ON stream_event TYPE string;
"""

# Tables that a store of this schema may lack, as they came later: they hold nothing that cannot be made anew.
LATER = {"image_change": _IMAGE_CHANGES}

TABLES = "".join(
    (
        *(_GRAPH, _PROTECTED, _RECALLS, _IMAGES, _AUDIT, _HANDS, _MODELS),
        *LATER.values(),
        *(_EDGE_VECTORS, _FADING, _SHELF, _STREAMS),
    )
)
