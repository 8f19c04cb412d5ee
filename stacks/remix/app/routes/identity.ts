import type { LoaderFunctionArgs } from "react-router";
import { json } from "../answers.ts";
import { opened } from "../context.ts";

export const loader = async ({ context }: LoaderFunctionArgs) => json(await context.get(opened).identity());
