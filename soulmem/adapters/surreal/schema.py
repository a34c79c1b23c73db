"""The tables of the store, as named migrations that are applied once each."""

from __future__ import annotations

from dataclasses import dataclass

# Ids: soul, chat and memory [owner, id]; message [owner, chat, slot]; edge [owner, edge id];
# vector [model, key]. Memories and edges repeat the parts of their ids as fields, for the index that reads a
# soul's graph page by page.
_FIRST = """
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
DEFINE FIELD rank ON message TYPE int;
DEFINE FIELD hash ON message TYPE string;
DEFINE FIELD role ON message TYPE string;
DEFINE FIELD speaker ON message TYPE string;
DEFINE FIELD text ON message TYPE string;
DEFINE FIELD sent_at ON message TYPE option<datetime>;
DEFINE FIELD story_at ON message TYPE option<datetime>;
DEFINE FIELD hidden ON message TYPE bool;
DEFINE FIELD swipe ON message TYPE int;
DEFINE FIELD present ON message TYPE option<array<string>>;

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
DEFINE INDEX edge_of ON edge FIELDS owner, soul, key;

DEFINE TABLE vector SCHEMAFULL;
DEFINE FIELD data ON vector TYPE bytes;
"""

# Older edges have no turn. It is derived from the wall time of the last use when the soul is opened: with 0 all
# of them would fade at once, with the present turn they would be too young.
_TURNS = """
DEFINE FIELD at_turn ON edge TYPE option<float>;
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

# image [owner, soul]: the token of the valid snapshot of a soul. A commit that changes the soul deletes it.
_IMAGES = """
DEFINE TABLE image SCHEMAFULL;
DEFINE FIELD token ON image TYPE string;
"""

# Terms and names of a text, as JSON texts, because thousands of small arrays in one transaction are slow. Older
# texts are analysed once the store is in use.
_TERMS = """
DEFINE FIELD terms ON memory TYPE option<string>;
DEFINE FIELD names ON memory TYPE option<string>;
"""

# audit [owner, entry], deletion [owner, request], opinion [owner, memory]. No statement can change a permanent
# or locked memory unless the transaction is the user's ($hand = 'user'); memories in the bin may be deleted. Of
# `state` only being in the bin counts: a concept is stale while names change.
_SOVEREIGNTY = """
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
DEFINE FIELD flagged ON opinion TYPE bool;
DEFINE FIELD not_in ON opinion TYPE array<string>;
DEFINE INDEX opinion_of ON opinion FIELDS owner, soul, key;

DEFINE EVENT protected ON memory WHEN $hand != 'user' AND $before != NONE
    AND ($before.permanent = true OR $before.locked = true) AND (
    ($event = 'DELETE' AND $before.state != 'bin')
    OR ($event = 'UPDATE' AND (
        [$before.soul, $before.kind, $before.text, $before.created, $before.tags, $before.importance,
         $before.permanent, $before.locked, $before.timelines, $before.situation, $before.concept,
         $before.state IN ['bin', 'retracted', 'forgotten']]
        != [$after.soul, $after.kind, $after.text, $after.created, $after.tags, $after.importance,
         $after.permanent, $after.locked, $after.timelines, $after.situation, $after.concept,
         $after.state IN ['bin', 'retracted', 'forgotten']])
    )
) THEN { THROW 'soulmem-protected: memory ' + $before.key };
"""

# derivation [owner, derivation]: what a language model read and what was derived from it, as one JSON text.
_DERIVATIONS = """
DEFINE TABLE derivation SCHEMAFULL;
DEFINE FIELD owner ON derivation TYPE string;
DEFINE FIELD soul ON derivation TYPE string;
DEFINE FIELD key ON derivation TYPE string;
DEFINE FIELD told ON derivation TYPE string;
DEFINE INDEX derivation_of ON derivation FIELDS owner, soul, key;
"""

# books [owner, soul]: usage of language models and work that waits for one, as one JSON text.
_BOOKS = """
DEFINE TABLE books SCHEMAFULL;
DEFINE FIELD told ON books TYPE string;
"""

# A memory that the user called wrong is in doubt in its present wording: `doubted` is the hash of that wording.
# `flagged` had no effect before, and users were told to correct the text: what was reworded is not in doubt.
_DOUBT = """
DEFINE FIELD doubted ON opinion TYPE option<string>;
LET $said = (SELECT id, owner, key, type::record('memory', [owner, key]).text AS text, (
    SELECT VALUE key FROM audit WHERE owner = $parent.owner AND target = $parent.key
    AND action = 'feedback' AND reason = 'wrong' ORDER BY key DESC LIMIT 1
)[0] ?? 'd' AS at FROM opinion WHERE flagged = true);
LET $judged = (SELECT id, text, (
    SELECT VALUE key FROM audit WHERE owner = $parent.owner AND target = $parent.key
    AND key > $parent.at AND action != 'feedback' AND string::contains(after ?? '', '"text":')
) AS reworded FROM $said WHERE text != NONE);
FOR $one IN $judged { IF array::len($one.reworded) = 0 {
    UPDATE type::record('opinion', record::id($one.id))
    SET doubted = string::slice(crypto::sha256($one.text), 0, 16) RETURN NONE;
} };
REMOVE FIELD flagged ON opinion;
UPDATE opinion UNSET flagged RETURN NONE;
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

# fading [owner, memory id]: units, anchors and rewording of one memory, as one JSON text.
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

# Tellings of one event: the key of the memory that stands for a merged one; whether the user separated it.
_TELLINGS = """
DEFINE FIELD merged_into ON memory TYPE option<string>;
DEFINE FIELD kept_apart ON memory TYPE option<bool>;
"""

# Whether the user undid that a memory was forgotten.
_BROUGHT_BACK = """
DEFINE FIELD brought_back ON memory TYPE option<bool>;
"""

# Whether somebody gave the importance of a memory; else the kinds of its lines say it.
_IMPORTANCE_GIVEN = """
DEFINE FIELD importance_given ON memory TYPE option<bool>;
"""

# stream_event [owner, soul, stream, time, event]: only ever added.
_STREAMS = """
DEFINE TABLE stream_event SCHEMAFULL;
DEFINE FIELD speaker ON stream_event TYPE string;
DEFINE FIELD text ON stream_event TYPE string;
"""


# audit_group [owner, first entry]: entries that differ only in id and target. Words of `erased` targets are gone.
_AUDIT_GROUPS = """
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


# shelf [owner, soul, memory]: a forgotten memory without edges, its row compressed.
_SHELF = """
DEFINE TABLE shelf SCHEMAFULL;
DEFINE FIELD data ON shelf TYPE bytes;
"""


# As before; nor does anybody else unite a protected memory with others.
_NOT_JOINED = """
DEFINE EVENT OVERWRITE protected ON memory WHEN $hand != 'user' AND $before != NONE
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


# A message is one JSON text. Older rows keep their fields until they are written again.
_TOLD_MESSAGES = """
DEFINE FIELD told ON message TYPE option<string>;
DEFINE FIELD OVERWRITE rank ON message TYPE option<int>;
DEFINE FIELD OVERWRITE hash ON message TYPE option<string>;
DEFINE FIELD OVERWRITE role ON message TYPE option<string>;
DEFINE FIELD OVERWRITE speaker ON message TYPE option<string>;
DEFINE FIELD OVERWRITE text ON message TYPE option<string>;
DEFINE FIELD OVERWRITE hidden ON message TYPE option<bool>;
DEFINE FIELD OVERWRITE swipe ON message TYPE option<int>;
"""


# When the user drew an edge: which of two facts is the later one does not follow from their last use.
_MADE_EDGES = """
DEFINE FIELD made ON edge TYPE option<datetime>;
"""


@dataclass(frozen=True, slots=True)
class Migration:
    """One step of the schema. Its position in `MIGRATIONS`, counted from 1, is the resulting version."""

    name: str
    sql: str


MIGRATIONS = (
    Migration("0001_first", _FIRST),
    Migration("0002_turns", _TURNS),
    Migration("0003_recalls", _RECALLS),
    Migration("0004_images", _IMAGES),
    Migration("0005_terms", _TERMS),
    Migration("0006_sovereignty", _SOVEREIGNTY),
    Migration("0007_derivations", _DERIVATIONS),
    Migration("0008_books", _BOOKS),
    Migration("0009_doubt", _DOUBT),
    Migration("0010_edge_vectors", _EDGE_VECTORS),
    Migration("0011_fading", _FADING),
    Migration("0012_tellings", _TELLINGS),
    Migration("0013_audit_groups", _AUDIT_GROUPS),
    Migration("0014_shelf", _SHELF),
    Migration("0015_streams", _STREAMS),
    Migration("0016_not_joined", _NOT_JOINED),
    Migration("0017_told_messages", _TOLD_MESSAGES),
    Migration("0018_brought_back", _BROUGHT_BACK),
    Migration("0019_importance_given", _IMPORTANCE_GIVEN),
    Migration("0020_made_edges", _MADE_EDGES),
)

# The table of applied migrations. Every later SoulMem must be able to read it.
META = """
DEFINE TABLE IF NOT EXISTS meta SCHEMAFULL;
DEFINE FIELD IF NOT EXISTS version ON meta TYPE int;
DEFINE FIELD IF NOT EXISTS applied ON meta TYPE array<string>;
"""
