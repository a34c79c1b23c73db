// Dates of messages and of the story; the sidecar wants ISO 8601 with a zone. `soulmem/transfer/send_dates.py` and
// `soulmem/language/times/written_dates.py` read them by the same expressions; one table of cases is tested on both.

const MONTHS = [
    'january',
    'february',
    'march',
    'april',
    'may',
    'june',
    'july',
    'august',
    'september',
    'october',
    'november',
    'december',
];
const LONGEST = 120; // characters of a date
const SINCE = 1e8; // seconds; a smaller number is of 1973 or before, so it counts no time since 1970
const MILLISECONDS = 1e11; // from here on a number counts milliseconds: as seconds it is the year 5138
const NUMBER = /^\d{1,17}(?:\.\d{1,9})?$/;
const COMPACT =
    /^((?:19|20)\d{2})(\d{2})(\d{2})(?:[ T]?(\d{2})(\d{2})(\d{2})?(?:\.\d{1,9})?(Z)?)?$/;
const FILE_STYLE =
    /^(\d{4})-(\d{1,2})-(\d{1,2}) ?@(\d{1,2})h ?(\d{1,2})m ?(\d{1,2})s(?: ?(\d{1,3})ms)?$/i;
// Two parts before the year. With slashes the month comes first, as in JavaScript, unless it can be none.
const YEAR_LAST = /^(\d{1,2})([-/.]) ?(\d{1,2})\2 ?(\d{4}|\d{2})\b\.?/;
// "Wed Jul 12 14:05:00 CEST 2023", as C and its languages write it
const YEAR_AT_END =
    /^[a-z]{3}\.? ([a-z]{3}) (\d{1,2}) (\d{1,2}:\d{2}(?::\d{2})?(?: (?:[a-z]{1,4}|[+-]\d{4}))?) (\d{4})$/i;
const CLOCK = new RegExp(
    '^[.,T日]{0,2} ?(?:\\([^() ]{1,4}\\) ?|(?:星期|周|週). ?)?(?:at |um |klo )?' +
        '(上午|下午|午前|午後|오전|오후)? ?(\\d{1,2})([:.])(\\d{2})(?:\\3(\\d{2})(?:[.,](\\d{1,9}))?)?' +
        ' ?(?:([ap])\\.? ?m\\.?)? ?([a-z]{1,4})? ?([+-]\\d{1,2}(?::?\\d{2})?)?(?: ?\\([^()]{1,60}\\))?$',
    'i',
);
const NO_CLOCK = /^[.,日]{0,2}$/;
const AFTERNOON = ['下午', '午後', '오후', 'p'];
/** Hours from UTC of the zones that JavaScript knows by name. */
const ZONES = /** @type {Record<string, number>} */ ({
    ...{ Z: 0, UTC: 0, GMT: 0, EST: -5, EDT: -4, CST: -6, CDT: -5, MST: -7, MDT: -6 },
    ...{ PST: -8, PDT: -7 },
});

/** A date with the characters it takes of its text. @typedef {{year: number, month: number, day: number, length: number}} WrittenDate */
/** A time of day; `zone` in minutes from UTC, null for one without.
 * @typedef {{hour: number, minute: number, second: number, milli: number, zone: number | null}} Clock */

const MIDNIGHT = /** @type {Clock} */ ({ hour: 0, minute: 0, second: 0, milli: 0, zone: null });

/** @param {Date} date @returns {string | null} */
const iso = date => {
    const year = date.getUTCFullYear();
    return Number.isFinite(year) && year >= 1 && year <= 9999 ? date.toISOString() : null;
};

/** A send_date as ISO 8601 in UTC, or null when it cannot be read. A number counts milliseconds or seconds since
 * 1970. A date without a zone is in the browser's time, except the form "@14h 56m 50s", which SillyTavern writes
 * and reads as UTC.
 * @param {unknown} value @returns {string | null} */
export function isoDate(value) {
    if (value instanceof Date) return iso(value);
    if (typeof value === 'number') return since1970(value);
    if (typeof value !== 'string' || value.length > LONGEST) return null;
    const text = value.replace(/[\u200e\u200f]/g, '').trim().split(/\s+/).join(' ');
    const compact = COMPACT.exec(text);
    if (compact) {
        const [year, month, day, hour, minute, second] = numbers(compact.slice(1, 7));
        const zone = compact[7] ? 0 : null;
        return moment({ year, month, day, length: 0 }, { hour, minute, second, milli: 0, zone });
    }
    if (NUMBER.test(text)) return since1970(Number(text));
    const file = FILE_STYLE.exec(text);
    if (file) {
        const [year, month, day, hour, minute, second, milli] = numbers(file.slice(1));
        return moment({ year, month, day, length: 0 }, { hour, minute, second, milli, zone: 0 });
    }
    const atEnd = YEAR_AT_END.exec(text);
    const date = atEnd ? yearAtEnd(atEnd) : (dateAtStart(text) ?? yearLast(text));
    if (!date) return null;
    const rest = atEnd ? atEnd[3] : text.slice(date.length);
    const clock = NO_CLOCK.test(rest) ? MIDNIGHT : clockOf(rest);
    return clock && moment(date, clock);
}

/** @param {(string | undefined)[]} parts @returns {number[]} */
const numbers = parts => parts.map(part => Number(part ?? 0));

/** @param {number} number @returns {string | null} */
const since1970 = number =>
    number >= SINCE
        ? iso(new Date(Math.floor(number >= MILLISECONDS ? number : number * 1000)))
        : null;

/** @param {RegExpExecArray} match @returns {WrittenDate} */
const yearAtEnd = match => ({
    year: Number(match[4]),
    month: monthOf(match[1]),
    day: Number(match[2]),
    length: 0,
});

/** @param {string} text @returns {WrittenDate | null} */
function yearLast(text) {
    const match = YEAR_LAST.exec(text);
    if (!match) return null;
    const [first, second, year] = numbers([match[1], match[3], match[4]]);
    const monthFirst = match[2] === '/' && first <= 12;
    return {
        year: year < 100 ? year + 2000 : year,
        month: monthFirst ? first : second,
        day: monthFirst ? second : first,
        length: match[0].length,
    };
}

/** @param {string} text @returns {Clock | null} */
function clockOf(text) {
    const match = CLOCK.exec(text);
    if (!match) return null;
    const [before, hour, , minute, second, fraction, after, zoneName, offset] = match.slice(1);
    const half = before ?? after?.toLowerCase();
    const isHalf = half !== undefined && Number(hour) <= 12;
    const hours = ZONES[(zoneName ?? 'Z').toUpperCase()];
    if (hours === undefined) return null;
    const zone = offset ? offsetOf(offset) : hours * 60;
    return {
        hour: isHalf ? (Number(hour) % 12) + (AFTERNOON.includes(half) ? 12 : 0) : Number(hour),
        minute: Number(minute),
        second: Number(second ?? 0),
        milli: Number((fraction ?? '0').slice(0, 3).padEnd(3, '0')),
        zone: zoneName || offset ? zone : null,
    };
}

/** @param {string} text "+0200", "+02:00" or "-5" @returns {number} minutes */
function offsetOf(text) {
    const digits = text.slice(1).replace(':', '');
    const [hours, minutes] =
        digits.length > 2 ? [digits.slice(0, -2), digits.slice(-2)] : [digits, '0'];
    return (text[0] === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
}

/** @param {WrittenDate} date @param {Clock} clock @returns {string | null} null for a moment that does not exist */
function moment({ year, month, day }, { hour, minute, second, milli, zone }) {
    const utc = new Date(0);
    utc.setUTCFullYear(year, month - 1, day);
    const isDay = utc.getUTCMonth() === month - 1 && utc.getUTCDate() === day && year >= 1;
    if (!isDay || hour > 23 || minute > 59 || second > 59) return null;
    if (zone !== null) {
        if (Math.abs(zone) >= 1440) return null;
        utc.setUTCHours(hour, minute - zone, second, milli);
        return iso(utc);
    }
    const local = new Date(2000, 0, 1);
    local.setFullYear(year, month - 1, day);
    local.setHours(hour, minute, second, milli);
    return iso(local);
}

const LABEL =
    /^(?:(?:story|current|in-game) )?(?:date|time|日期|时间|時間|日付|日時) {0,3}[\]】〕」)*_`]{0,3} {0,3}[:：]?/i;
const WEEKDAY = '^(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6}\\.?,? )?';
const YEAR_FIRST = /^(\d{3,4}) ?[-/.年] ?(\d{1,2}) ?[-/.月] ?(\d{1,2})(?!\d)/;
const MONTH_FIRST = new RegExp(
    `${WEEKDAY}([a-z]{3,9})\\.? (\\d{1,2})(?:st|nd|rd|th)?,? (\\d{3,4})(?!\\d)`,
    'i',
);
const DAY_FIRST = new RegExp(
    `${WEEKDAY}(\\d{1,2})(?:st|nd|rd|th|\\.)?[ -](?:of )?([a-z]{3,9})\\.?,?[ -](\\d{3,4})(?!\\d)`,
    'i',
);
const HOUR = /^[^\d\n]{0,12}(\d{1,2}):(\d{2})(?!\d)/;
const EDGE_LINES = 3; // lines at the beginning and at the end of a message that may state a date
const LINE_CHARACTERS = 160; // that are read of such a line

/** The date in the story, where a message states it in a line of its own ("Date: 812-05-03",
 * "【日期】812年5月3日", "[May 3rd, 1924, 18:30]"). A line without a label counts when the date is in brackets.
 * The last line counts.
 * @param {string} text @returns {string | null} ISO 8601 */
export function storyDate(text) {
    const lines = text.split('\n').filter(line => line.trim());
    const edges = [
        ...lines.slice(0, EDGE_LINES),
        ...lines.slice(EDGE_LINES).slice(-EDGE_LINES),
    ];
    let date = /** @type {string | null} */ (null);
    for (const line of edges) {
        const read = Array.from(line.slice(0, 2 * LINE_CHARACTERS)).slice(0, LINE_CHARACTERS);
        date = lineDate(read.join('').trim().split(/\s+/).join(' ')) ?? date;
    }
    return date;
}

/** @param {string} line @returns {string | null} ISO 8601 */
function lineDate(line) {
    const start = line.search(/[^\s>*_#`~|-]/);
    const bracket = /^[[({【〔「<]/.test(line.slice(start));
    const bare = line.slice(bracket ? start + 1 : start).replace(/^[ *_`]+/, '');
    const label = LABEL.exec(bare);
    if (start < 0 || (!bracket && !/[:：\]】]/.test(label?.[0] ?? ''))) return null;
    const rest = bare.slice(label?.[0].length ?? 0).replace(/^[ *_`[({【]+/, '');
    const date = dateAtStart(rest);
    if (!date) return null;
    const [hour, minute] = timeParts(rest.slice(date.length));
    return moment(date, { ...MIDNIGHT, hour, minute, zone: 0 });
}

/** The time of day at the beginning of a text. @param {string} text
 * @returns {[hours: number, minutes: number]} zeros when there is none */
function timeParts(text) {
    const match = HOUR.exec(text);
    if (!match || Number(match[1]) >= 24 || Number(match[2]) >= 60) return [0, 0];
    return [Number(match[1]), Number(match[2])];
}

/** The date at the beginning of a text: 2031-05-03, 812年5月3日, May 3rd, 1924, 3 May 1924. `month` counts from 1,
 * 0 for an unknown name. @param {string} text @returns {WrittenDate | null} */
function dateAtStart(text) {
    const first = YEAR_FIRST.exec(text);
    if (first) {
        const [year, month, day] = numbers(first.slice(1));
        return { year, month, day, length: first[0].length };
    }
    const monthFirst = MONTH_FIRST.exec(text);
    if (monthFirst) {
        const [all, month, day, year] = monthFirst;
        return { year: Number(year), month: monthOf(month), day: Number(day), length: all.length };
    }
    const dayFirst = DAY_FIRST.exec(text);
    if (!dayFirst) return null;
    const [all, day, month, year] = dayFirst;
    return { year: Number(year), month: monthOf(month), day: Number(day), length: all.length };
}

/** @param {string} name of a month, or its first letters @returns {number} 1 to 12, 0 for none */
const monthOf = name =>
    name.length < 3 ? 0 : MONTHS.findIndex(month => month.startsWith(name.toLowerCase())) + 1;
