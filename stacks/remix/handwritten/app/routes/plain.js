import { json } from "../answers.js";

export const loader = () => json({ message: "Hello, world!" });
