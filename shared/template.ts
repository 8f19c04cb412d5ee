import { readFileSync } from "node:fs";
import { Eta } from "eta";
import { openapi } from "./content/openapi.ts";

const eta = new Eta({ autoEscape: true });
const view = (name: string) => eta.compile(readFileSync(new URL(`./views/${name}.eta`, import.meta.url), "utf8"));

const hi = view("hi");

/** The page of /html-template: compiled once, rendered and escaped for every request. */
export const renderHi = (data: { name: string }): string => eta.render(hi, data);

/** @returns the name of the JSON schema of a request or answer. */
const nameOf = ({ content }: { content?: Record<string, { schema: { $ref?: string } }> }) =>
  content?.["application/json"]?.schema.$ref?.split("/").at(-1);

export const renderDocs = (described = openapi): string => eta.render(view("docs"), { ...described, nameOf });
