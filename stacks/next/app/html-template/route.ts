import { Eta } from "eta";
import hi from "shared/views/hi.eta";

export { DELETE, OPTIONS, PATCH, POST, PUT } from "@/lib/missing.ts";

const eta = new Eta({ autoEscape: true });
const template = eta.compile(hi);

export const GET = () =>
  new Response(eta.render(template, { name: "Ben" }), { headers: { "content-type": "text/html; charset=utf-8" } });
