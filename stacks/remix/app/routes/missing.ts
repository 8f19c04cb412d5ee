import { notFound } from "../../../../shared/errors.ts";
import { failed } from "../answers.ts";

export const loader = () => failed(notFound);
