// Dates of messages and of the story. SillyTavern has used four formats; the sidecar wants ISO 8601 with a zone.

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
const HUMANIZED =
    /^(\d{4})-(\d{1,2})-(\d{1,2}) ?@(\d{1,2})h ?(\d{1,2})m ?(\d{1,2})s(?: ?(\d{1,3})ms)?$/;
const MERIDIEM = /^(\w+) (\d{1,2}), (\d{4}) (\d{1,2}):(\d{1,2})(am|pm)$/i;

/** @param {Date} date @returns {string | null} */
const iso = date => {
    const year = date.getUTCFullYear();
    return Number.isFinite(year) && year >= 1 && year <= 9999 ? date.toISOString() : null;
};

/** A send_date as ISO 8601 in UTC, or null when it cannot be read. A date without a zone is in the browser's
 * time, except the form "@14h 56m 50s", which SillyTavern writes and reads as UTC.
 * @param {unknown} value @returns {string | null} */
export function isoDate(value) {
    if (value instanceof Date) return iso(value);
    if (typeof value === 'number') return iso(new Date(value));
    if (typeof value !== 'string' || !value.trim()) return null;
    const text = value.trim();
    if (/^\d{5,}$/.test(text)) return iso(new Date(Number(text)));
    const human = HUMANIZED.exec(text);
    if (human) {
        const [year, month, day, hour, minute, second, ms] = human
            .slice(1)
            .map(part => Number(part ?? 0));
        return iso(new Date(Date.UTC(year, month - 1, day, hour, minute, second, ms)));
    }
    const meridiem = MERIDIEM.exec(text);
    if (meridiem) {
        const month = MONTHS.findIndex(name =>
            name.startsWith(meridiem[1].toLowerCase().slice(0, 3)),
        );
        if (month < 0) return null;
        const hour = (Number(meridiem[4]) % 12) + (meridiem[6].toLowerCase() === 'pm' ? 12 : 0);
        return iso(
            new Date(Number(meridiem[3]), month, Number(meridiem[2]), hour, Number(meridiem[5])),
        );
    }
    return iso(new Date(text));
}

const LABEL =
    /^(?:(?:story|current|in-game) )?(?:date|time|日期|时间|時間|日付|日時)\s{0,3}[\]】〕」)*_`]{0,3}\s{0,3}[:：]?/i;
const NUMBERS = /^(\d{3,4})\s?[-/.年]\s?(\d{1,2})\s?[-/.月]\s?(\d{1,2})(?!\d)/;
const MONTH_FIRST =
    /^(?:[A-Za-z]{3,9}day,? )?([A-Za-z]{3,9})\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{3,4})(?!\d)/;
const DAY_FIRST =
    /^(?:[A-Za-z]{3,9}day,? )?(\d{1,2})(?:st|nd|rd|th)? (?:of )?([A-Za-z]{3,9})\.?,? (\d{3,4})(?!\d)/;
const HOUR = /^[^\d\n]{0,12}(\d{1,2}):(\d{2})(?!\d)/;
const EDGE_LINES = 3; // lines at the beginning and at the end of a message that may state a date
const LINE_CHARACTERS = 160; // that are read of such a line

/** The date in the story, where a message states it in a line of its own ("Date: 812-05-03",
 * "【日期】812年5月3日", "[May 3rd, 1924, 18:30]"). A line without a label counts when the date is in brackets.
 * The last line counts.
 * @param {string} text @returns {string | null} ISO 8601 */
export function storyDate(text) {
    const lines = text.split('\n').filter(line => line.trim());
    const candidates = new Set([...lines.slice(0, EDGE_LINES), ...lines.slice(-EDGE_LINES)]);
    let date = /** @type {string | null} */ (null);
    for (const line of candidates) date = lineDate(line.slice(0, LINE_CHARACTERS)) ?? date;
    return date;
}

/** @param {string} line @returns {string | null} ISO 8601 */
function lineDate(line) {
    const start = line.search(/[^\s>*_#`~|-]/);
    const bracket = /^[[({【〔「<]/.test(line.slice(start));
    const bare = line.slice(bracket ? start + 1 : start).replace(/^[\s*_`]+/, '');
    const label = LABEL.exec(bare);
    if (start < 0 || (!bracket && !label?.[0].match(/[:：\]】]/))) return null;
    const rest = bare.slice(label?.[0].length ?? 0).replace(/^[\s*_`[({【]+/, '');
    const { year, month, day, length } = dateParts(rest);
    if (!length || month < 1 || month > 12 || day < 1 || day > 31) return null;
    return iso(new Date(Date.UTC(year, month - 1, day, ...timeParts(rest.slice(length)))));
}

/** The time of day at the beginning of a text. @param {string} text
 * @returns {[hours: number, minutes: number]} zeros when there is none */
function timeParts(text) {
    const match = HOUR.exec(text);
    if (!match || Number(match[1]) >= 24) return [0, 0];
    return [Number(match[1]), Number(match[2])];
}

/** The date at the beginning of a text. `month` counts from 1, `length` is in characters.
 * @param {string} text @returns {{year: number, month: number, day: number, length: number}} zeros when there is none */
function dateParts(text) {
    const numbers = NUMBERS.exec(text);
    if (numbers) {
        const [year, month, day] = numbers.slice(1).map(Number);
        return { year, month, day, length: numbers[0].length };
    }
    const monthFirst = MONTH_FIRST.exec(text);
    if (monthFirst) {
        const [all, month, day, year] = monthFirst;
        return { year: Number(year), month: monthOf(month), day: Number(day), length: all.length };
    }
    const dayFirst = DAY_FIRST.exec(text);
    if (!dayFirst) return { year: 0, month: 0, day: 0, length: 0 };
    const [all, day, month, year] = dayFirst;
    return { year: Number(year), month: monthOf(month), day: Number(day), length: all.length };
}

/** @param {string} name of a month, or its first letters @returns {number} 1 to 12, 0 for none */
const monthOf = name => MONTHS.findIndex(month => month.startsWith(name.toLowerCase())) + 1;
