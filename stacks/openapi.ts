/** Writes what the other servers answer to /openapi.json and /docs, on Postgres too, for a server to carry or send: `bun stacks/openapi.ts FOLDER`. */
import { mkdirSync, writeFileSync } from "node:fs";
import { openapi } from "../shared/content/openapi.ts";
import { renderDocs } from "../shared/template.ts";
import { openapiOfPostgres } from "../shared/tpcb/openapi.ts";

const folder = process.argv[2] as string;
mkdirSync(folder, { recursive: true });
for (const [store, described] of [
  ["", openapi],
  ["-postgres", openapiOfPostgres],
] as const) {
  writeFileSync(`${folder}/docs${store}.html`, renderDocs(described));
  writeFileSync(`${folder}/openapi${store}.json`, JSON.stringify(described));
}
