/** Writes what the other servers answer to /openapi.json and /docs, for a server to carry or send: `bun stacks/openapi.ts FOLDER`. */
import { mkdirSync, writeFileSync } from "node:fs";
import { openapi } from "../shared/content/openapi.ts";
import { renderDocs } from "../shared/template.ts";

const folder = process.argv[2] as string;
mkdirSync(folder, { recursive: true });
writeFileSync(`${folder}/docs.html`, renderDocs());
writeFileSync(`${folder}/openapi.json`, JSON.stringify(openapi));
