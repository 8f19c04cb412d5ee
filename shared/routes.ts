import { openapi } from "./content/openapi.ts";
import { contentRoutes } from "./content/routes.ts";
import type { Route } from "./contract.ts";
import { integer, segment } from "./input.ts";
import { MAX_SIZE, type Table } from "./people.ts";
import type { People } from "./stores/people.ts";
import type { Store } from "./stores/store.ts";
import { renderDocs, renderHi } from "./template.ts";
import { openapiOfPostgres } from "./tpcb/openapi.ts";
import { tpcbRoutes } from "./tpcb/routes.ts";

/**
 * The routes that every server mounts.
 * @param store returns the store of content items and users; the first call opens it
 * @param onPostgres adds /tx
 */
export function routes(
  people: People,
  store: () => Store | Promise<Store>,
  identity: () => unknown,
  onPostgres = false,
): Route[] {
  const described = onPostgres ? openapiOfPostgres : openapi;
  return [
    { method: "GET", path: "/", type: "json", handle: identity },
    { method: "GET", path: "/plain", type: "json", handle: () => ({ message: "Hello, world!" }) },
    { method: "GET", path: "/html-template", type: "html", handle: () => renderHi({ name: "Ben" }) },
    randomRows("/sqlite/random-5fields/:size", people, "person5"),
    randomRows("/sqlite/random-30fields/:size", people, "person30"),
    ...contentRoutes(store),
    ...(onPostgres ? tpcbRoutes(store) : []),
    { method: "GET", path: "/openapi.json", type: "json", handle: () => described },
    { method: "GET", path: "/docs", type: "html", handle: () => renderDocs(described) },
  ];
}

const randomRows = (path: Route["path"], people: People, table: Table): Route => ({
  method: "GET",
  path,
  type: "json",
  handle: (input) => people.randomRows(table, integer("size", segment(input, "size"), MAX_SIZE)),
});
