import { randomRows } from "../answers.js";

export const loader = randomRows("person30");
