import { Eta } from "eta";

const eta = new Eta({ autoEscape: true });
const hi = eta.compile(`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>Hello</title>
  </head>
  <body>
    <h1>Hello</h1>
    <p>Hi <%= it.name %></p>
  </body>
</html>
`);

export const GET = () =>
  new Response(eta.render(hi, { name: "Ben" }), { headers: { "content-type": "text/html; charset=utf-8" } });
