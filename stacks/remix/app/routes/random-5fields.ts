import { randomRows } from "../answers.ts";

export const loader = randomRows("person5");
