/** Writes what the other servers answer to /openapi.json and /docs, for Spring to carry: `bun stacks/java/openapi.ts`. */
import { mkdirSync, writeFileSync } from "node:fs";
import { openapi } from "../../shared/content/openapi.ts";
import { renderDocs } from "../../shared/template.ts";

const folder = `${import.meta.dirname}/spring/target/openapi`;
mkdirSync(folder, { recursive: true });
writeFileSync(`${folder}/docs.html`, renderDocs());
writeFileSync(`${folder}/openapi.json`, JSON.stringify(openapi));
