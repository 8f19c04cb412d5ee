import { index, type RouteConfig, route } from "@react-router/dev/routes";

const caseSensitive = true;

export default [
  index("routes/identity.ts"),
  route("plain", "routes/plain.ts", { caseSensitive }),
  route("html-template", "routes/html-template.ts", { caseSensitive }),
  route("sqlite/random-5fields/:size", "routes/random-5fields.ts", { caseSensitive }),
  route("sqlite/random-30fields/:size", "routes/random-30fields.ts", { caseSensitive }),
  route("*", "routes/missing.ts"),
] satisfies RouteConfig;
