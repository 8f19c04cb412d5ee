/** What the page keeps in its URL after #: `latency&endpoint=/plain&rate=200`. */

/** The part of the page, then the names and values that are chosen. */
export interface Address {
  readonly view: string;
  readonly choices: readonly (readonly [name: string, value: string])[];
}

/** Escapes only what separates choices, so that paths stay readable. */
const escaped = (text: string): string => text.replace(/[%&=]/g, (sign) => encodeURIComponent(sign));

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a URL that was written by hand
  }
}

/** @returns the URL's part after # */
export const fragmentOf = ({ view, choices }: Address): string =>
  [view, ...choices.map((choice) => choice.map(escaped).join("="))].join("&");

export function addressIn(fragment: string): Address {
  const [view = "", ...choices] = fragment.split("&");
  return {
    view: unescaped(view),
    choices: choices.map((choice) => {
      const [name = "", value = ""] = choice.split(/=(.*)/s);
      return [unescaped(name), unescaped(value)];
    }),
  };
}
