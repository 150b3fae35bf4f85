// Numbers and counts as text.

const MINUS = "−";

export const isNumber = (value) => typeof value === "number" && Number.isFinite(value);

/** A number with a fixed count of digits; what is missing is a dash. */
export function decimal(value, digits = 3) {
  return isNumber(value) ? value.toFixed(digits).replace("-", MINUS) : "–";
}

export function signed(value, digits = 3) {
  return isNumber(value) && value > 0 ? `+${decimal(value, digits)}` : decimal(value, digits);
}

export const percent = (value) => (isNumber(value) ? `${Math.round(100 * value)} %` : "–");

export const whole = (value) => (isNumber(value) ? Math.round(value).toLocaleString("en-GB") : "–");

/** A p-value: small ones as a bound. */
export function pValue(value) {
  if (!isNumber(value)) return "–";
  return value < 0.001 ? "< 0.001" : value.toFixed(3);
}

/** "1 query", "2 queries". */
export function count(number, one, many = `${one}s`) {
  return `${whole(number)} ${number === 1 ? one : many}`;
}

/** Milliseconds, to the precision that matters. */
export function milliseconds(value) {
  if (!isNumber(value)) return "–";
  return value < 10 ? `${value.toFixed(1)} ms` : `${Math.round(value)} ms`;
}

/** The first characters of a name, for places that cannot cut a text off by themselves. */
export function shorten(name, length) {
  const characters = Array.from(name);
  return characters.length <= length ? name : `${characters.slice(0, Math.max(1, length - 1)).join("")}…`;
}

/** A text as the beginning of a sentence. */
export const capitalised = (text) => text.replace(/^./u, (letter) => letter.toUpperCase());
