import { json } from "../answers.ts";

export const loader = () => json({ message: "Hello, world!" });
