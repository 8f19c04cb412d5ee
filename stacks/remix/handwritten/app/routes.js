import { index, route } from "@react-router/dev/routes";

export default [
  index("routes/identity.js"),
  route("plain", "routes/plain.js"),
  route("html-template", "routes/html-template.js"),
  route("sqlite/random-5fields/:size", "routes/random-5fields.js"),
  route("sqlite/random-30fields/:size", "routes/random-30fields.js"),
];
