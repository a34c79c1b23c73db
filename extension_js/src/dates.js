// When was a message sent? SillyTavern has written four formats over the years; the sidecar wants ISO 8601 with a zone.

const MONTHS = ['january', 'february', 'march', 'april', 'may', 'june', 'july', 'august', 'september', 'october', 'november', 'december'];
const HUMANIZED = /^(\d{4})-(\d{1,2})-(\d{1,2}) ?@(\d{1,2})h ?(\d{1,2})m ?(\d{1,2})s(?: ?(\d{1,3})ms)?$/;
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
        const [year, month, day, hour, minute, second, ms] = human.slice(1).map(part => Number(part ?? 0));
        return iso(new Date(Date.UTC(year, month - 1, day, hour, minute, second, ms)));
    }
    const meridiem = MERIDIEM.exec(text);
    if (meridiem) {
        const month = MONTHS.findIndex(name => name.startsWith(meridiem[1].toLowerCase().slice(0, 3)));
        if (month < 0) return null;
        const hour = Number(meridiem[4]) % 12 + (meridiem[6].toLowerCase() === 'pm' ? 12 : 0);
        return iso(new Date(Number(meridiem[3]), month, Number(meridiem[2]), hour, Number(meridiem[5])));
    }
    return iso(new Date(text));
}
