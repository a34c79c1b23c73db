// When was a message sent? SillyTavern has written four formats over the years; the sidecar wants ISO 8601 with a zone.

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

/** A send_date as ISO 8601 in UTC, or null when it cannot be read. A date without a zone is the browser's local time,
 * except the "@14h 56m 50s" form, which SillyTavern wrote, and reads, as UTC.
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
const EDGE = 3; // lines at the beginning and at the end of a message where a date line or a tracker stands
const LINE = 160; // characters of such a line that are read

/** The date of the story that a message tells in a line of its own ("Date: 812-05-03", "【日期】812年5月3日", "[May 3rd, 1924, 18:30]") as ISO 8601,
 * or null. Without a word for it, the date stands in brackets. The last of the message counts: that is where the story has come to.
 * @param {string} text @returns {string | null} */
export function storyDate(text) {
    const lines = text.split('\n').filter(line => line.trim());
    const seen = new Set([...lines.slice(0, EDGE), ...lines.slice(-EDGE)]);
    let found = /** @type {string | null} */ (null);
    for (const line of seen) found = dateOf(line.slice(0, LINE)) ?? found;
    return found;
}

/** @param {string} line @returns {string | null} */
function dateOf(line) {
    const start = line.search(/[^\s>*_#`~|-]/);
    const bracket = /^[[({【〔「<]/.test(line.slice(start));
    const bare = line.slice(bracket ? start + 1 : start).replace(/^[\s*_`]+/, '');
    const label = LABEL.exec(bare);
    if (start < 0 || (!bracket && !label?.[0].match(/[:：\]】]/))) return null;
    const rest = bare.slice(label?.[0].length ?? 0).replace(/^[\s*_`[({【]+/, '');
    const [year, month, day, length] = partsOf(rest);
    if (!length || month < 1 || month > 12 || day < 1 || day > 31) return null;
    const hour = HOUR.exec(rest.slice(length));
    return iso(
        new Date(
            Date.UTC(
                year,
                month - 1,
                day,
                ...(hour && Number(hour[1]) < 24 ? [Number(hour[1]), Number(hour[2])] : []),
            ),
        ),
    );
}

/** @param {string} text @returns {[number, number, number, number]} year, month from 1, day, and how long it is; zeros where there is no date */
function partsOf(text) {
    const numbers = NUMBERS.exec(text);
    if (numbers)
        return [Number(numbers[1]), Number(numbers[2]), Number(numbers[3]), numbers[0].length];
    const first = MONTH_FIRST.exec(text);
    if (first) return [Number(first[3]), monthOf(first[1]), Number(first[2]), first[0].length];
    const second = DAY_FIRST.exec(text);
    return second
        ? [Number(second[3]), monthOf(second[2]), Number(second[1]), second[0].length]
        : [0, 0, 0, 0];
}

/** @param {string} name or its first three letters at least @returns {number} 1 to 12, 0 for none */
const monthOf = name => MONTHS.findIndex(month => month.startsWith(name.toLowerCase())) + 1;
