import { Eta } from "eta";
import hi from "../../../../../shared/views/hi.eta?raw";
import { html } from "../answers.js";

const eta = new Eta();
const template = eta.compile(hi);

export const loader = () => html(eta.render(template, { name: "Ben" }));
