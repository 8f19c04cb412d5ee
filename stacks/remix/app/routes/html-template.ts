import { Eta } from "eta";
import hi from "../../../../shared/views/hi.eta?raw";
import { html } from "../answers.ts";

const eta = new Eta({ autoEscape: true });
const template = eta.compile(hi);

export const loader = () => html(eta.render(template, { name: "Ben" }));
