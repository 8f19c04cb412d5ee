import { readFileSync } from "node:fs";
import { Eta } from "eta";

const eta = new Eta({ autoEscape: true });
const hi = eta.compile(readFileSync(new URL("./views/hi.eta", import.meta.url), "utf8"));

/** The page of /html-template; compiled once above, rendered and escaped at every call. */
export const renderHi = (data: { name: string }): string => eta.render(hi, data);
